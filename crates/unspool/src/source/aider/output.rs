//! The boundary between the raw output of a program and the model's words. No mark
//! separates them, but the token counts below limit the length of the words, and a
//! search prints lines of a known form.

use super::counts::Counts;

/// Counts the lines of output at the start.
pub(super) fn length(lines: &[String], tool: &str, counts: Option<&Counts>) -> usize {
    let received = counts.and_then(|counts| counts.usage.output_tokens);
    match received {
        None | Some(0) => lines.len(),
        Some(_) if tool == "Grep" => matches(lines),
        Some(received) => lines.len() - words_at_end(lines, received),
    }
}

/// Counts the lines of a search: paths, numbered lines, separators.
fn matches(lines: &[String]) -> usize {
    let is_match = |line: &str| {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        rest.len() < line.len() && rest.starts_with([':', '-'])
    };
    let belongs = |(index, line): (usize, &String)| {
        let next = lines.get(index + 1).map_or("", String::as_str);
        let text = line.trim_end();
        text.is_empty() || text == "--" || is_match(text) || is_match(next)
    };
    lines
        .iter()
        .enumerate()
        .position(|line| !belongs(line))
        .unwrap_or(lines.len())
}

/// Counts the lines at the end that the model can have written with these tokens.
fn words_at_end(lines: &[String], received: u64) -> usize {
    let mut left = received;
    let mut has_words = false;
    let fits = |line: &&String| {
        let tokens = tokens(line);
        let fits = tokens <= left || !has_words;
        left = left.saturating_sub(tokens);
        has_words |= !line.trim().is_empty();
        fits
    };
    lines.iter().rev().take_while(fits).count()
}

/// Estimates tokens: words, and each other sign.
fn tokens(line: &str) -> u64 {
    let mut count = 0;
    let mut in_word = false;
    for c in line.chars() {
        let word = c.is_alphanumeric();
        let sign = !word && !c.is_whitespace();
        count += u64::from(sign || (word && !in_word));
        in_word = word;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::aider::counts;

    fn split(text: &str, tool: &str, received: u64) -> usize {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let counts = counts::read(&format!("Tokens: 1k sent, {received} received."));
        length(&lines, tool, counts.as_ref())
    }

    #[test]
    fn token_counts_separate_output_from_words() {
        assert_eq!(
            split("out\nerr\nA tool that does not exist.\n", "Command", 7),
            2
        );
        assert_eq!(split("line 1\nline 2\n", "Command", 0), 2);
    }

    #[test]
    fn lines_of_a_search_have_a_known_form() {
        let text = "/p/app.py\n1:def x\n2-  y\n\n/p/b.py\n3:def z\nDone.";
        assert_eq!(split(text, "Grep", 2), 6);
        assert_eq!(split("End.", "Grep", 2), 0);
    }
}
