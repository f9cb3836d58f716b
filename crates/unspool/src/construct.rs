//! Macros that write the constructors of public structs.
//!
//! Those structs are `#[non_exhaustive]`, so that a new field is not a breaking
//! change: other crates call `new` and chain `with_…` for optional fields.

/// Writes `new`, which takes the required fields, and a setter for each of the
/// others.
macro_rules! constructors {
    ($(
        $(#[$doc:meta])*
        $type:ident $(<$life:lifetime>)? ($($given:ident: $given_type:ty),+)
        { $($with:ident => $field:ident: $field_type:ty,)* }
    )+) => {$(
        impl $(<$life>)? $type $(<$life>)? {
            $(#[$doc])*
            pub fn new($($given: impl Into<$given_type>),+) -> Self {
                Self {
                    $($given: $given.into(),)+
                    ..Self::default()
                }
            }
        }

        setters! { $type $(<$life>)? { $($with => $field: $field_type,)* } }
    )+};
}

/// Writes a setter for each field.
macro_rules! setters {
    ($type:ident $(<$life:lifetime>)? { $($with:ident => $field:ident: $field_type:ty,)* }) => {
        impl $(<$life>)? $type $(<$life>)? {$(
            #[doc = concat!("Sets [`", stringify!($field), "`](Self::", stringify!($field), ").")]
            pub fn $with(mut self, $field: impl Into<$field_type>) -> Self {
                self.$field = $field.into();
                self
            }
        )*}
    };
}
