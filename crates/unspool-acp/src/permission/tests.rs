//! Operations that rules allow, and above all those that they do not.

use super::*;

fn rules(list: &[(Action, &str, &str)]) -> Rules {
    let rules: Vec<Rule> = list
        .iter()
        .map(|(action, condition, pattern)| {
            let of = |name: &str| (name == *condition).then(|| (*pattern).to_owned());
            Rule {
                action: *action,
                tool: of("tool"),
                kind: of("kind"),
                path: of("path"),
                command: of("command"),
            }
        })
        .collect();
    Rules::new(&rules).unwrap()
}

fn runs(command: &str) -> Operation {
    Operation {
        tool: "Bash".to_owned(),
        kind: "execute".to_owned(),
        command: Some(command.to_owned()),
        ..Operation::default()
    }
}

fn edits(paths: &[&str]) -> Operation {
    Operation {
        tool: "Edit".to_owned(),
        kind: "edit".to_owned(),
        paths: paths
            .iter()
            .map(|path| (*path != "outside").then(|| (*path).to_owned()))
            .collect(),
        ..Operation::default()
    }
}

#[test]
fn nothing_is_allowed_by_default() {
    let verdict = Rules::default().judge(&runs("ls"));
    assert_eq!((verdict.action, verdict.rule), (Action::Ask, None));
}

#[test]
fn the_first_rule_that_matches_decides() {
    let rules = rules(&[
        (Action::Ask, "command", "cargo publish*"),
        (Action::Allow, "command", "cargo *"),
        (Action::Deny, "command", "cargo test*"),
    ]);
    let judged = |line| rules.judge(&runs(line));
    assert_eq!(judged("cargo publish").rule, Some(1));
    assert_eq!(judged("cargo publish").action, Action::Ask);
    assert_eq!(judged("cargo test").action, Action::Allow);
    assert_eq!(judged("cargotest").action, Action::Ask);
}

#[test]
fn an_allow_never_matches_a_chain_of_commands() {
    let rules = rules(&[(Action::Allow, "command", "cargo test*")]);
    assert_eq!(
        rules.judge(&runs("cargo test --lib 'a b'")).action,
        Action::Allow
    );
    for line in [
        "cargo test && rm -rf /",
        "cargo test; rm x",
        "cargo test | sh",
        "cargo test || sh",
        "cargo test & sh",
        "cargo test\nrm x",
        "cargo test\rrm x",
        "cargo test $(rm x)",
        "cargo test `rm x`",
        "cargo test $HOME",
        "cargo test > /etc/passwd",
        "cargo test < x",
        "cargo test <(rm x)",
        "cargo test \u{85}rm",
        "cargo test \0rm",
    ] {
        assert_eq!(rules.judge(&runs(line)).action, Action::Ask, "{line:?}");
    }
}

#[test]
fn a_deny_matches_any_part_of_a_chain() {
    let rules = rules(&[
        (Action::Deny, "command", "rm *"),
        (Action::Allow, "kind", "execute"),
    ]);
    for line in [
        "rm x",
        "ls && rm x",
        "ls; (rm x)",
        "echo $(rm x)",
        "a\nrm x",
    ] {
        assert_eq!(rules.judge(&runs(line)).action, Action::Deny, "{line:?}");
    }
    assert_eq!(rules.judge(&runs("ls && ls")).action, Action::Allow);
}

#[test]
fn a_title_can_be_denied_but_not_allowed() {
    let headline = Operation {
        kind: "execute".to_owned(),
        title: "rm x".to_owned(),
        ..Operation::default()
    };
    let allow = rules(&[(Action::Allow, "command", "rm *")]);
    assert_eq!(allow.judge(&headline).action, Action::Ask);
    let deny = rules(&[(Action::Deny, "command", "rm *")]);
    assert_eq!(deny.judge(&headline).action, Action::Deny);
}

#[test]
fn regular_expressions_match_the_whole_line() {
    let rules = rules(&[(Action::Allow, "command", "^git (status|log)$")]);
    assert_eq!(rules.judge(&runs("git log")).action, Action::Allow);
    assert_eq!(rules.judge(&runs("git log --all")).action, Action::Ask);
    assert_eq!(rules.judge(&runs("sudo git log")).action, Action::Ask);
    let either = super::Rules::new(&[Rule {
        action: Action::Allow,
        tool: None,
        kind: None,
        path: None,
        command: Some("^ls|pwd".to_owned()),
    }])
    .unwrap();
    assert_eq!(either.judge(&runs("lsof")).action, Action::Ask);
    assert_eq!(either.judge(&runs("pwd")).action, Action::Allow);
}

#[test]
fn every_file_has_to_be_allowed_and_one_denied_is_enough() {
    let rules = rules(&[
        (Action::Deny, "path", "**/.env"),
        (Action::Allow, "path", "src/**"),
    ]);
    let judged = |paths: &[&str]| rules.judge(&edits(paths)).action;
    assert_eq!(judged(&["src/a.rs", "src/b/c.rs"]), Action::Allow);
    assert_eq!(judged(&["src/a.rs", "Cargo.toml"]), Action::Ask);
    assert_eq!(judged(&["src/a.rs", "src/.env"]), Action::Deny);
    assert_eq!(judged(&[".env"]), Action::Deny);
    assert_eq!(judged(&["src/a.rs", "outside"]), Action::Ask);
    assert_eq!(judged(&[]), Action::Ask);
}

#[test]
fn a_star_does_not_match_across_folders() {
    let rules = rules(&[(Action::Allow, "path", "src/*.rs")]);
    assert_eq!(rules.judge(&edits(&["src/a.rs"])).action, Action::Allow);
    assert_eq!(rules.judge(&edits(&["src/a/b.rs"])).action, Action::Ask);
    assert_eq!(rules.judge(&edits(&["src/aXrs"])).action, Action::Ask);
}

#[test]
fn a_path_does_not_allow_a_command() {
    let rules = rules(&[(Action::Allow, "path", "**")]);
    let command = Operation {
        paths: vec![Some("src/a.rs".to_owned())],
        ..runs("rm src/a.rs")
    };
    assert_eq!(rules.judge(&command).action, Action::Ask);
}

#[test]
fn an_allow_without_a_condition_is_invalid() {
    let rule = |action| Rule {
        action,
        tool: None,
        kind: None,
        path: None,
        command: None,
    };
    assert!(Rules::new(&[rule(Action::Allow)]).is_err());
    assert!(Rules::new(&[rule(Action::Deny)]).is_ok());
    let broken = Rule {
        command: Some("^(".to_owned()),
        ..rule(Action::Allow)
    };
    assert!(Rules::new(&[broken]).unwrap_err().starts_with("rule 1: "));
}
