//! Tests that every answer of every recording renders the same in pieces of any
//! size and at once.

use std::collections::BTreeSet;

use unspool::session::{Item, Session};

use crate::files;
use crate::pieces::{self, Cut};

fn answers() -> BTreeSet<String> {
    let mut answers = BTreeSet::new();
    for (_, events) in files::all_events() {
        let mut session = Session::new();
        let mut take = |entry: unspool::session::Entry| {
            if let Item::Text(text) | Item::Reasoning(text) = entry.item {
                answers.insert(text.text);
            }
        };
        for event in events {
            session.apply(event.clone(), &mut take);
        }
        session.finish(&mut take);
    }
    answers
}

#[test]
fn answers_come_out_as_in_one_go() {
    let answers = answers();
    assert!(answers.len() > 100, "only {} answers", answers.len());
    for text in answers {
        let mut ways = vec![
            (Cut::Sizes(&[8]), 1),
            (Cut::Sizes(&[3, 1, 17, 60]), 0),
            (Cut::Lines, 1),
            (Cut::Whole, 0),
        ];
        if text.len() < 5000 {
            ways.push((Cut::Sizes(&[1]), 1));
        }
        pieces::check(&text, &ways);
    }
}
