//! A number as JSON writes it.

/// Digits that are read; what comes after them does not count.
const DIGITS: u32 = 18;

/// The largest power of ten that a `f64` holds exactly.
const EXACT_TEN: i32 = 22;

/// The number; `None` where it is none. Exact up to 15 digits and powers of ten up to 22, else to some 15 digits.
pub(crate) fn parse(text: &str) -> Option<f64> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (number, exponent) = match text.split_once(['e', 'E']) {
        // `parse` takes a sign, also a plus.
        Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = match number.split_once('.') {
        Some((_, "")) => return None,
        Some(parts) => parts,
        None => (number, ""),
    };
    if whole.is_empty() {
        return None;
    }
    let (mut digits, mut read, mut power) = (0_u64, 0, exponent);
    for (part, is_fraction) in [(whole, false), (fraction, true)] {
        for one in part.bytes() {
            if !one.is_ascii_digit() {
                return None;
            }
            let kept = read < DIGITS;
            if kept {
                digits = digits * 10 + u64::from(one - b'0');
                // Zeroes before the first digit are none.
                read += u32::from(digits > 0);
            }
            power = power.saturating_add(i32::from(!kept) - i32::from(is_fraction));
        }
    }
    let number = scaled(digits as f64, power);
    // What is too large for a number is no setting.
    number.is_finite().then_some(if negative { -number } else { number })
}

/// `number` times ten to the power, in steps that are exact by themselves.
fn scaled(mut number: f64, mut power: i32) -> f64 {
    if number == 0.0 {
        return number;
    }
    while power != 0 && number != 0.0 && number.is_finite() {
        let step = power.clamp(-EXACT_TEN, EXACT_TEN);
        let mut ten = 1.0;
        for _ in 0..step.abs() {
            ten *= 10.0;
        }
        number = if step < 0 { number / ten } else { number * ten };
        power -= step;
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_is_exact() {
        for text in [
            "0",
            "-0",
            "1",
            "1.5",
            "0.1",
            "0.30000000000000004",
            "-2.25",
            "1e3",
            "1E-7",
            "2.5e+2",
            "123456789012345",
            "0.95",
            "00.5",
            "1e22",
            "9007199254740991",
            "3.14159265358979",
            "0.000001",
            "1.0",
            "1e0",
        ] {
            assert_eq!(parse(text).map(f64::to_bits), text.parse::<f64>().ok().map(f64::to_bits), "{text}");
        }
        for thousandth in -3_000..3_000 {
            let number = f64::from(thousandth) / 1_000.0;
            assert_eq!(parse(&serde_json::to_string(&number).unwrap()), Some(number));
        }
    }

    #[test]
    fn what_is_longer_or_larger_is_right_to_its_last_digits() {
        for text in [
            "1e300",
            "1.5e308",
            "2.2250738585072014e-308",
            "123456789012345678901234567890",
            "1e-25",
            "0.0000000000000000000000000000001",
        ] {
            let (read, right) = (parse(text).unwrap(), text.parse::<f64>().unwrap());
            assert!((read / right - 1.0).abs() < 1e-14, "{text}: {read}");
        }
        assert_eq!(parse("1e-400"), Some(0.0));
        assert_eq!(parse("0e999999999"), Some(0.0));
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in [
            "",
            "-",
            ".5",
            "5.",
            "1e",
            "e5",
            "1.2.3",
            "--1",
            "+1",
            "1x",
            "NaN",
            "inf",
            "1e400",
            "1e99999999999",
            "\"1\"",
            "٣",
            "1_0",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
