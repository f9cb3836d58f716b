//! Option values that shell completion suggests, although other values are
//! accepted, such as comma-separated lists.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command};

use unspool_sessions::tally::{By, Grouping};

use crate::agents;

/// A value parser with suggestions for completion.
#[derive(Clone)]
pub(crate) struct Suggested<T> {
    parse: fn(&str) -> Result<T, String>,
    words: fn() -> Vec<PossibleValue>,
}

/// Parses the name of an agent. Its existence is checked later.
pub(crate) fn agent() -> Suggested<String> {
    Suggested {
        parse: |text| Ok(text.to_owned()),
        words: || {
            let agents = agents::sorted()
                .into_iter()
                .filter(|agent| agent.saved.is_some());
            agents.map(|agent| PossibleValue::new(agent.name)).collect()
        },
    }
}

/// Parses a comma-separated grouping.
pub(crate) fn grouping() -> Suggested<Grouping> {
    Suggested {
        parse: parse_grouping,
        words: || {
            let values = By::ALL.iter();
            values.map(|key| PossibleValue::new(key.name())).collect()
        },
    }
}

fn parse_grouping(text: &str) -> Result<Grouping, String> {
    let key = |word: &str| {
        let is_meant = |key: &&By| key.name().eq_ignore_ascii_case(word.trim());
        By::ALL
            .iter()
            .find(is_meant)
            .copied()
            .ok_or_else(|| format!("{word}: expected agent, model, project, day or tool"))
    };
    let keys: Result<Vec<By>, String> = text.split(',').map(key).collect();
    Ok(Grouping::new(keys?))
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Suggested<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        let parse = self.parse;
        StringValueParser::new()
            .try_map(move |text| parse(&text))
            .parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.words)().into_iter()))
    }
}
