//! Settings: what the user chose for this plugin.

use crate::{Level, backend, decimal, log};

/// A setting: what the user chose, else the default in the manifest's schema. `None` where neither is, or where it is of
/// another type than `T`, which is written into the log.
///
/// A policy reads a setting anew once a second, a pipeline once a call, however often this is called.
pub fn setting<T: Setting>(name: &str) -> Option<T> {
    let mut value = None;
    // What does not depend on the type is there once, not once a type: components are to be small.
    let mut read = |json: &str| {
        value = T::of_json(json);
        value.is_some()
    };
    read_with(name, &mut read);
    value
}

fn read_with(name: &str, fits: &mut dyn FnMut(&str) -> bool) {
    backend::setting(name, &mut |json| {
        if !fits(json) {
            log(Level::Warn, format_args!("the setting '{name}' is {json}, which does not fit"));
        }
    });
}

/// [`setting`], or `default`.
pub fn setting_or<T: Setting>(name: &str, default: T) -> T {
    setting(name).unwrap_or(default)
}

/// What a setting can be. Settings are single values, so a whole JSON parser need not be part of every component. Nor are the
/// 20 KB that reading every `f64` to its last bit takes: one that is written with up to 15 digits and an exponent up to 22 is
/// exact, others may be off in the last digits.
pub trait Setting: Sized {
    /// The value that the JSON holds, if it is of this type.
    fn of_json(json: &str) -> Option<Self>;
}

macro_rules! settings {
    ($($number:ty)*) => {$(
        impl Setting for $number {
            fn of_json(json: &str) -> Option<Self> {
                json.trim_ascii().parse().ok()
            }
        }
    )*};
}

settings!(bool u8 u16 u32 u64 usize i32 i64);

impl Setting for f64 {
    fn of_json(json: &str) -> Option<Self> {
        decimal::parse(json.trim_ascii())
    }
}

impl Setting for f32 {
    fn of_json(json: &str) -> Option<Self> {
        f64::of_json(json).map(|number| number as Self)
    }
}

impl Setting for String {
    fn of_json(json: &str) -> Option<Self> {
        let mut rest = json.trim_ascii().strip_prefix('"')?.strip_suffix('"')?.chars();
        let mut text = Self::with_capacity(json.len());
        while let Some(one) = rest.next() {
            text.push(match one {
                '\\' => escaped(&mut rest)?,
                '"' => return None,
                other => other,
            });
        }
        Some(text)
    }
}

/// What follows a backslash.
fn escaped(rest: &mut std::str::Chars<'_>) -> Option<char> {
    Some(match rest.next()? {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'u' => {
            let first = unit(rest)?;
            match first {
                0xd800..0xdc00 => {
                    let (backslash, u) = (rest.next()?, rest.next()?);
                    let second = unit(rest).filter(|_| (backslash, u) == ('\\', 'u'))?;
                    char::decode_utf16([first, second]).next()?.ok()?
                }
                _ => char::from_u32(u32::from(first))?,
            }
        }
        other @ ('"' | '\\' | '/') => other,
        _ => return None,
    })
}

/// Four hexadecimal digits.
fn unit(rest: &mut std::str::Chars<'_>) -> Option<u16> {
    let digits = rest.as_str().get(..4)?;
    *rest = rest.as_str().get(4..)?.chars();
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Host;

    #[test]
    fn a_text_is_what_was_written_as_json() {
        for text in ["", "plain", "a \"word\" \\ \n\t\r\u{8}\u{c}/", "ä, 漢, 🦀", "\u{1}\u{1f}"] {
            assert_eq!(String::of_json(&serde_json::to_string(text).unwrap()).as_deref(), Some(text));
        }
        assert_eq!(String::of_json(r#""\ud83e\udd80 \u00e4""#).as_deref(), Some("🦀 ä"));
        for broken in
            ["", "\"", "plain", r#""\x""#, r#""\u12""#, r#""\ud83e""#, r#""\ud83e\u0041""#, r#""a"b""#]
        {
            assert_eq!(String::of_json(broken), None, "{broken}");
        }
    }

    #[test]
    fn a_setting_of_another_type_is_logged_and_left_to_the_default() {
        let host = Host::new().setting("ratio", "much").setting("on", true).install();
        assert_eq!(setting_or("ratio", 1.5), 1.5);
        assert_eq!((setting::<bool>("on"), setting::<bool>("off")), (Some(true), None));
        assert_eq!(host.logs(), ["the setting 'ratio' is \"much\", which does not fit"]);
    }
}
