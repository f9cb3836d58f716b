//! Converts spans and styles of the library to ratatui's, in the colours of a
//! theme.
//!
//! Both crates must agree on the width of a text, so that lines are painted as
//! wide as they were laid out.

use ratatui::style::{Color, Modifier, Style as Painted};
use ratatui::text::{Line as PaintedLine, Span as PaintedSpan};
use unspool::doc::{Span, Style};
use unspool::theme::Theme;

/// Converts a line.
pub(crate) fn line<'a>(line: &'a [Span], theme: &Theme) -> PaintedLine<'a> {
    let paint = |span: &'a Span| PaintedSpan::styled(span.text.as_str(), style(span.style, theme));
    line.iter().map(paint).collect()
}

/// Converts a style.
pub(crate) fn style(style: Style, theme: &Theme) -> Painted {
    let look = theme.look(style);
    let mut painted = Painted::new();
    painted.fg = look.foreground.map(Color::Indexed);
    painted.bg = look.background.map(Color::Indexed);
    for (is_so, modifier) in [
        (look.bold, Modifier::BOLD),
        (look.dim, Modifier::DIM),
        (look.italic, Modifier::ITALIC),
        (look.underline, Modifier::UNDERLINED),
        (look.reverse, Modifier::REVERSED),
        (look.strike, Modifier::CROSSED_OUT),
    ] {
        if is_so {
            painted = painted.add_modifier(modifier);
        }
    }
    painted
}

/// Returns the style of the selected row: a shaded background, or reversed
/// without colours.
pub(crate) fn selection(theme: &Theme) -> Painted {
    match (theme.has_colors(), theme.is_dark()) {
        (false, _) => Painted::new().add_modifier(Modifier::REVERSED),
        (true, true) => Painted::new().bg(Color::Indexed(236)),
        (true, false) => Painted::new().bg(Color::Indexed(254)),
    }
}

#[cfg(test)]
mod tests {
    use ratatui::buffer::{Buffer, CellWidth};
    use ratatui::layout::Rect;
    use unicode_segmentation::UnicodeSegmentation as _;
    use unspool::doc::Role;
    use unspool::layout::width;

    use super::*;

    /// A new version of either crate might measure differently and misalign rows.
    #[test]
    fn ratatui_and_the_library_agree_on_widths() {
        for text in [
            "abc",
            "é",
            "e\u{301}",
            "漢字",
            "ｶﾞ",
            "ﾊﾟ",
            "ｶﾞｷﾞ half-width",
            "…•▌│─",
            "🙂",
            "❤",
            "❤\u{FE0F}",
            "1\u{FE0F}\u{20E3}",
            "👩‍👩‍👧",
            "👍🏽",
            "🇩🇪",
            "한국어",
            "שלום",
            "❤\u{FE0E}",
            "\\x1B[2J \\u{202E}",
        ] {
            let cells: u16 = text.graphemes(true).map(CellWidth::cell_width).sum();
            assert_eq!(usize::from(cells), width(text), "{text}");
            let span = [Span::role(text, Role::Normal)];
            let mut buffer = Buffer::empty(Rect::new(0, 0, 40, 1));
            let (end, _) = buffer.set_line(0, 0, &line(&span, &Theme::mono()), 40);
            assert_eq!(usize::from(end), width(text), "{text}");
        }
    }

    #[test]
    fn a_theme_without_colours_uses_none() {
        let red = Style::of(Role::Red).bold();
        let painted = style(red, &Theme::mono());
        assert_eq!((painted.fg, painted.bg), (None, None));
        assert!(painted.add_modifier.contains(Modifier::BOLD));
        assert_eq!(style(red, &Theme::default()).fg, Some(Color::Indexed(167)));
        assert!(selection(&Theme::mono()).bg.is_none());
    }
}
