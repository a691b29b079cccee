//! Sizes as people write them.

use crate::{Code, Failure};

/// Reads a number of bytes: `400MB` (powers of ten), `2GiB` (powers of two), `1.5 GiB`, plain bytes. Case is ignored, and
/// a lone `K`, `M`, `G` or `T` is the power of two, as in most memory tools.
///
/// # Errors
/// [`Code::InvalidValue`] where it is no number, negative, or has an unknown unit.
pub fn parse_bytes(text: &str) -> Result<u64, Failure> {
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(trimmed.len());
    let (number, unit) = (trimmed[..split].trim().replace('_', ""), trimmed[split..].trim().to_lowercase());
    let factor: u64 = match unit.as_str() {
        "" | "b" => 1,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        _ => return Err(not_a_size(text)),
    };
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(factor).ok_or_else(|| not_a_size(text));
    }
    let parts = number.parse::<f64>().map_err(|_| not_a_size(text))? * factor as f64;
    if parts.is_finite() && parts >= 0.0 && parts < u64::MAX as f64 {
        Ok(parts as u64)
    } else {
        Err(not_a_size(text))
    }
}

/// Writes bytes for people, in powers of two with one decimal: `183.4 MiB`.
pub fn format_bytes(bytes: u64) -> String {
    let mut value = bytes as f64;
    let mut unit = "B";
    for next in ["KiB", "MiB", "GiB", "TiB"] {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = next;
    }
    if unit == "B" { format!("{bytes} B") } else { format!("{value:.1} {unit}") }
}

fn not_a_size(text: &str) -> Failure {
    Failure::new(Code::InvalidValue, format!("'{text}' is not a size"))
        .hint("write bytes (2147483648) or a unit: 400MB, 2GiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_written() {
        for (text, want) in [
            ("2147483648", 2_147_483_648),
            ("400MB", 400_000_000),
            ("2GiB", 2 << 30),
            ("2 gib", 2 << 30),
            ("1.5GiB", 3 << 29),
            ("64M", 64 << 20),
            ("0", 0),
            ("1_000", 1_000),
        ] {
            assert_eq!(parse_bytes(text).unwrap(), want, "{text}");
        }
        for text in ["", "MB", "-1", "-1MB", "2 apples", "1e99GB", "NaN", "inf", "99999999999TiB"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_written_for_people() {
        assert_eq!(format_bytes(12), "12 B");
        assert_eq!(format_bytes(1536), "1.5 KiB");
        assert_eq!(format_bytes(192_310_000), "183.4 MiB");
    }
}
