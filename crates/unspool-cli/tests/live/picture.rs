//! The screen as a picture that a browser shows, for the snapshots of
//! views and chats.

use crate::terminal::{Size, Terminal};

/// The screen as SVG; `clean` takes out what differs from run to run.
pub(crate) fn svg(terminal: &Terminal, size: Size, clean: impl Fn(String) -> String) -> Vec<u8> {
    let picture = anstyle_svg::Term::new().min_width_px(usize::from(size.0) * 8);
    picture.render_svg(&clean(terminal.painted())).into_bytes()
}
