//! Tests that Markdown in pieces renders the same as at once, at little cost.

mod generated;
mod pieces;
mod traps;

use proptest::prelude::*;

use pieces::Cut;

fn config() -> ProptestConfig {
    let wanted = std::env::var("PROPTEST_CASES").ok();
    ProptestConfig {
        cases: wanted.and_then(|cases| cases.parse().ok()).unwrap_or(800),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn sizes() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(1usize..40, 1..6)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn pieces_render_like_the_whole(
        text in generated::document(),
        sizes in sizes(),
        look in 0usize..4,
    ) {
        pieces::check(&text, &[(Cut::Sizes(&sizes), look), (Cut::Lines, look), (Cut::Whole, look)]);
    }

    #[test]
    fn single_characters_render_like_the_whole(text in generated::document()) {
        pieces::check(&text, &[(Cut::Sizes(&[1]), 1)]);
    }

    #[test]
    fn special_characters_render_like_the_whole(text in generated::soup(), sizes in sizes()) {
        pieces::check(&text, &[(Cut::Sizes(&sizes), 1), (Cut::Sizes(&[1]), 1)]);
    }
}

/// Earlier findings of the property tests.
#[test]
fn earlier_findings_render_like_the_whole() {
    const TEXTS: &[&str] = &["> > >\n-   [^1]: note\n        ```\n    # head"];
    for text in TEXTS {
        let ways = [
            Cut::Sizes(&[1]),
            Cut::Sizes(&[7, 3]),
            Cut::Lines,
            Cut::Whole,
        ];
        for look in 0..3 {
            pieces::check(text, &ways.map(|cut| (cut, look)));
        }
    }
}

/// Longer than the steps in which a stream parses between refreshes.
#[test]
fn long_documents_render_like_the_whole() {
    let config = ProptestConfig {
        cases: 40,
        ..config()
    };
    let documents = prop::collection::vec(generated::document(), 10..40);
    proptest!(config, |(documents in documents, sizes in sizes())| {
        let text = documents.concat();
        pieces::check(&text, &[(Cut::Sizes(&sizes), 0), (Cut::Sizes(&[8]), 16)]);
    });
}
