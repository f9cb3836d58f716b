//! Where aider and aider-ce keep their histories, and the tools of aider-ce.

use std::path::Path;

use crate::event::Category;
use crate::source::{Folder, Place, ReadFile, Saved, ToolNames};

const HISTORIES: &[&str] = &[".aider.chat.history.md", ".cecli/chat.history"];

pub(super) const SAVED: Saved = Saved {
    file_names: HISTORIES,
    sections: &["# aider chat started at ", "# cecli chat started at "],
    project,
    ..Saved::new(&[
        Place::projects(HISTORIES),
        Place::named("AIDER_CHAT_HISTORY_FILE", &Folder::Current, &[]),
    ])
};

/// A history lies at the root of its project, or in a folder there.
fn project(history: &Path, _read: ReadFile<'_>) -> Option<String> {
    let folder = history.parent()?;
    let root = if folder.ends_with(".cecli") {
        folder.parent()?
    } else {
        folder
    };
    Some(root.to_string_lossy().into_owned())
}

pub(super) const TOOLS: ToolNames = &[
    (
        Category::Read,
        &[
            "viewfilesatglob",
            "shownumberedcontext",
            "gitbranch",
            "gitdiff",
            "gitlog",
            "gitremote",
            "gitshow",
            "gitstatus",
        ],
    ),
    (
        Category::Edit,
        &[
            "replacetext",
            "replaceall",
            "replaceline",
            "replacelines",
            "insertblock",
            "deleteblock",
            "deleteline",
            "deletelines",
            "indentlines",
            "undochange",
        ],
    ),
    (Category::Move, &["extractlines"]),
    (
        Category::Search,
        &[
            "explorecode",
            "viewfilesmatching",
            "viewfileswithsymbol",
            "searchdocs",
            "searchfacts",
        ],
    ),
    (
        Category::Execute,
        &["command", "commandinteractive", "orchestrate"],
    ),
    (Category::Think, &["yield"]),
    (Category::Plan, &["updatetodolist"]),
];
