//! Errors as values: their text is what a person is shown.

use std::io;

/// An operation on sessions that failed.
///
/// The causes are its sources, from the outermost to the innermost.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder that could not be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),

    /// A database that could not be read or written.
    #[error(transparent)]
    Database(DatabaseError),

    /// The operation that failed, and its cause.
    #[error("{operation}")]
    Failed {
        /// The operation in words, such as `cannot read run.jsonl`.
        operation: String,
        /// The cause.
        source: Box<Error>,
    },

    /// No session has this id or this prefix of an id.
    #[error("no session has the id {0}, and there is no such file: see unspool sessions")]
    NoSuchSession(String),

    /// A request that cannot be met; the text gives the reason.
    #[error("{0}")]
    Refused(String),
}

/// An error of a database.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct DatabaseError(pub(crate) rusqlite::Error);

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(DatabaseError(error))
    }
}

/// The result of an operation on sessions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn refused(reason: impl Into<String>) -> Self {
        Self::Refused(reason.into())
    }

    /// Returns true if the file or session that was asked for does not exist.
    pub fn is_not_found(&self) -> bool {
        match self {
            Self::Io(error) => error.kind() == io::ErrorKind::NotFound,
            Self::Failed { source, .. } => source.is_not_found(),
            Self::NoSuchSession(_) => true,
            Self::Database(_) | Self::Refused(_) => false,
        }
    }

    /// Returns the error and its sources, from the outermost to the innermost.
    pub fn chain(&self) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
        let first: &(dyn std::error::Error + 'static) = self;
        std::iter::successors(Some(first), |error| error.source())
    }

    /// Returns the texts of the error and its sources, separated by colons.
    pub fn full_text(&self) -> String {
        let texts: Vec<String> = self.chain().map(ToString::to_string).collect();
        texts.join(": ")
    }
}

/// Adds to an error the operation that failed.
pub(crate) trait Context<T> {
    fn context(self, operation: impl Into<String>) -> Result<T>;
    fn with_context<S: Into<String>>(self, operation: impl FnOnce() -> S) -> Result<T>;
}

impl<T, E: Into<Error>> Context<T> for std::result::Result<T, E> {
    fn context(self, operation: impl Into<String>) -> Result<T> {
        self.with_context(|| operation)
    }

    fn with_context<S: Into<String>>(self, operation: impl FnOnce() -> S) -> Result<T> {
        self.map_err(|error| Error::Failed {
            operation: operation().into(),
            source: Box::new(error.into()),
        })
    }
}

/// Returns from the function with [`Error::Refused`].
macro_rules! bail {
    ($($text:tt)*) => {
        return Err($crate::error::Error::refused(format!($($text)*)))
    };
}
pub(crate) use bail;

pub(crate) fn cannot_read(name: &str) -> String {
    format!("cannot read {name}")
}
