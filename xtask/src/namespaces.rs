//! Tests that run the program in a user namespace, which not every machine allows.

use crate::test::Skip;
use crate::tools;

/// The options of `unshare` that the tests use.
const UNSHARE: [&str; 6] = [
    "--user",
    "--map-root-user",
    "--pid",
    "--fork",
    "--mount-proc",
    "true",
];

const TESTS: [&str; 2] = [
    "picker::a_key_that_stops_is_no_harm_in_a_container",
    "faults::what_may_not_be_read_is_skipped_until_it_may",
];

/// The tests, where no namespace can be made.
pub(crate) fn missing() -> Vec<Skip> {
    if !cfg!(target_os = "linux") || tools::succeeds("unshare", &UNSHARE, "") {
        return Vec::new();
    }
    let reason = "user namespaces are not allowed: `unshare --user` fails";
    let skip = |test| Skip {
        test,
        reason: reason.to_owned(),
    };
    TESTS.map(skip).into()
}
