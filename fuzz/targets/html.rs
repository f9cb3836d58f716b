//! Checks that a page contains only its own elements and attributes. The first
//! byte selects the provider.

#![no_main]

#[path = "../../crates/unspool/tests/hostile/markup.rs"]
mod markup;

use libfuzzer_sys::fuzz_target;
use unspool::doc::card;
use unspool::doc::entry::Detail;
use unspool::output::About;
use unspool::output::html::Html;
use unspool::source::BUILTIN;

fuzz_target!(|data: &[u8]| {
    let [from, bytes @ ..] = data else {
        return;
    };
    let choice = usize::from(*from) % (BUILTIN.len() + 1);
    let from = choice.checked_sub(1).map(|index| BUILTIN[index]);
    let events = unspool_fuzz::events(from, bytes);
    let about = About {
        title: String::from_utf8_lossy(bytes).into_owned(),
        ..About::default()
    };
    let mut page = Html::new(Vec::new(), &about, None).expect("memory can be written to");
    for entry in unspool_fuzz::entries(&events) {
        if let Some(card) = card::card(&entry, &Detail::default()) {
            page.card(&card).expect("memory can be written to");
        }
    }
    let page = page.finish(&[]).expect("memory can be written to");
    let page = String::from_utf8(page).expect("a page is text");
    assert_eq!(page.matches("<script").count(), 1);
    if let Err(error) = markup::text(markup::middle(&page)) {
        panic!("{error}");
    }
});
