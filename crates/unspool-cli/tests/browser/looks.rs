//! Looks of a page: light and dark, narrow, on paper, and to those who do
//! not see it.

use serde_json::json;

use crate::chromium::Tab;
use crate::{ERRORS, MARKDOWN, NASTY, PARITY, page};

const PAPER: &str = "getComputedStyle(document.body).backgroundColor";

#[test]
#[ignore = "needs chromium: run `cargo xtask test`"]
fn light_and_dark_follow_the_system_until_one_is_chosen() {
    let page = page(PARITY);
    let mut tab = Tab::new();
    tab.scheme("light");
    tab.open(&page.path, "");
    let light = tab.eval(PAPER);
    tab.scheme("dark");
    tab.open(&page.path, "");
    let dark = tab.eval(PAPER);
    assert_ne!(light, dark);
    tab.keys("T");
    assert_eq!(tab.eval(PAPER), light);
    tab.open(&page.path, "");
    assert_eq!(tab.eval(PAPER), light, "the choice is remembered");
    tab.was_quiet();
}

/// Gives the least contrast of any text to what is behind it, and that text.
const CONTRAST: &str = r"
(() => {
  const parse = (text) => {
    const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const channel = (value) => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const known = new Map();
  const colour = (text) => known.get(text) ?? known.set(text, parse(text)).get(text);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const found = getComputedStyle(at).backgroundColor;
      if (colour(found)[3] === 255) return colour(found);
    }
    return [255, 255, 255];
  };
  let least = [99, ''];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.closest('.visually-hidden, script, .copy')) continue;
    // What a program painted with a background of its own is its own business.
    if (/\bb\d/.test(element.className)) continue;
    const [a, b] = [luminance(colour(getComputedStyle(element).color)), luminance(behind(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < least[0]) least = [contrast, element.className + ': ' + walker.currentNode.data.slice(0, 60)];
  }
  return least;
})()";

#[test]
#[ignore = "needs chromium: run `cargo xtask test`"]
fn all_text_can_be_read_on_what_is_behind_it() {
    let mut tab = Tab::new();
    for recording in [PARITY, MARKDOWN, ERRORS, NASTY] {
        let page = page(recording);
        for scheme in ["light", "dark"] {
            tab.scheme(scheme);
            tab.open(&page.path, "");
            tab.eval("for (const fold of document.querySelectorAll('details')) fold.open = true; document.querySelector('[data-action=outline]').click()");
            let least = tab.eval(CONTRAST);
            assert!(
                least[0].as_f64().unwrap() >= 4.5,
                "{recording} {scheme}: {least}"
            );
        }
    }
}

#[test]
#[ignore = "needs chromium: run `cargo xtask test`"]
fn a_narrow_screen_does_not_scroll_sideways() {
    let mut tab = Tab::new();
    tab.resize(360, 740);
    for recording in [PARITY, MARKDOWN, ERRORS, NASTY] {
        let page = page(recording);
        tab.open(&page.path, "");
        tab.eval("for (const fold of document.querySelectorAll('details')) fold.open = true");
        // What is far away has a guessed size until it is seen.
        tab.eval("for (const entry of document.querySelectorAll('article')) entry.style.contentVisibility = 'visible'");
        let width = tab.eval("document.documentElement.scrollWidth");
        assert_eq!(width, 360, "{recording}");
    }
}

#[test]
#[ignore = "needs chromium: run `cargo xtask test`"]
fn on_paper_nothing_is_folded() {
    let page = page(PARITY);
    let mut tab = Tab::new();
    tab.open(&page.path, "");
    let seen = "(() => { const e = [...document.querySelectorAll('.tool pre')].find(e => e.textContent.includes('24 total')); return e.getBoundingClientRect().height > 50 && e.checkVisibility(); })()";
    assert_eq!(tab.eval(seen), false);
    tab.call("Emulation.setEmulatedMedia", json!({"media": "print"}));
    assert_eq!(tab.eval(seen), true, "by the style alone");
    assert_eq!(
        tab.eval("document.querySelector('.bar').checkVisibility()"),
        false
    );
    tab.call("Emulation.setEmulatedMedia", json!({"media": ""}));
    let printed = tab.call("Page.printToPDF", json!({}));
    assert!(printed["data"].as_str().unwrap().starts_with("JVBERi"));
    assert_eq!(
        tab.eval("document.querySelector('.tool details').open"),
        false,
        "as it was before"
    );
    tab.was_quiet();
}

#[test]
#[ignore = "needs chromium: run `cargo xtask test`"]
fn those_who_do_not_see_the_page_find_their_way() {
    let mut tab = Tab::new();
    for recording in [PARITY, MARKDOWN] {
        let page = page(recording);
        tab.open(&page.path, "");
        let counts = "['h1', 'main', 'header', 'footer', 'nav'].map(tag => document.querySelectorAll('body > ' + tag + ', header > ' + tag).length)";
        assert_eq!(tab.eval(counts), json!([1, 1, 1, 1, 1]));
        let nameless = "[...document.querySelectorAll('button, input, a')].filter(e => !(e.textContent.trim() || e.ariaLabel)).length";
        assert_eq!(tab.eval(nameless), 0);
        let doubled = "(() => { const ids = [...document.querySelectorAll('[id]')].map(e => e.id); return ids.length - new Set(ids).size; })()";
        assert_eq!(tab.eval(doubled), 0);
        let unnamed = "[...document.querySelectorAll('article')].filter(e => !e.querySelector('h2, h3')).length";
        assert_eq!(tab.eval(unnamed), 0);
        let states = "[...document.querySelectorAll('.status')].filter(e => !e.nextElementSibling.matches('.visually-hidden')).length";
        assert_eq!(
            tab.eval(states),
            0,
            "colour alone does not say how a call went"
        );
    }
}
