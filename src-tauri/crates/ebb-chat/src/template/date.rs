//! The date for templates that tell the model which day it is.

use std::fmt::Write as _;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];

/// Python's `strftime` in UTC, in English, for the directives that dates are made of; others stay as they are.
pub(super) fn strftime(format: &str, unix_seconds: u64) -> String {
    let (days, second) = (unix_seconds / 86_400, unix_seconds % 86_400);
    let (year, month, day) = civil(days);
    let month_name = MONTHS[month as usize - 1];
    // The first day of 1970 was a Thursday.
    let weekday = DAYS[(days % 7) as usize];
    let hour = second / 3600;
    let mut text = String::new();
    let mut characters = format.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            text.push(character);
            continue;
        }
        let directive = characters.next();
        // Writing to a string cannot fail.
        let _ = match directive {
            Some('Y') => write!(text, "{year}"),
            Some('y') => write!(text, "{:02}", year % 100),
            Some('m') => write!(text, "{month:02}"),
            Some('d') => write!(text, "{day:02}"),
            Some('e') => write!(text, "{day:2}"),
            Some('B') => write!(text, "{month_name}"),
            Some('b' | 'h') => write!(text, "{}", &month_name[..3]),
            Some('A') => write!(text, "{weekday}"),
            Some('a') => write!(text, "{}", &weekday[..3]),
            Some('H') => write!(text, "{hour:02}"),
            Some('I') => write!(text, "{:02}", (hour + 11) % 12 + 1),
            Some('p') => write!(text, "{}", if hour < 12 { "AM" } else { "PM" }),
            Some('M') => write!(text, "{:02}", second / 60 % 60),
            Some('S') => write!(text, "{:02}", second % 60),
            Some('Z') => write!(text, "UTC"),
            Some('%') => write!(text, "%"),
            Some(other) => write!(text, "%{other}"),
            None => write!(text, "%"),
        };
    }
    text
}

/// Year, month and day of a day since 1970, in the proleptic Gregorian calendar: years are counted from March, so that the
/// leap day is the last one, in cycles of 400 years.
fn civil(days: u64) -> (u64, u64, u64) {
    const DAYS_FROM_MARCH_0000: u64 = 719_468;
    const CYCLE: u64 = 146_097;
    let days = days + DAYS_FROM_MARCH_0000;
    let (cycle, day) = (days / CYCLE, days % CYCLE);
    let year = (day - day / 1460 + day / 36_524 - day / (CYCLE - 1)) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = (year + 400 * cycle, if month < 10 { month + 3 } else { month - 9 });
    (if month <= 2 { year + 1 } else { year }, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_read_as_in_python() {
        for (seconds, text) in [
            (0, "Thu 01 January 1970 00:00:00 12AM"),
            (951_782_399, "Mon 28 February 2000 23:59:59 11PM"),
            (951_782_400, "Tue 29 February 2000 00:00:00 12AM"),
            (1_735_689_599, "Tue 31 December 2024 23:59:59 11PM"),
            (4_107_542_400, "Mon 01 March 2100 00:00:00 12AM"),
        ] {
            assert_eq!(strftime("%a %d %B %Y %H:%M:%S %I%p", seconds), text);
        }
        assert_eq!(strftime("%d %b %Y, %y%m%d %% %Q %", 1_722_470_400), "01 Aug 2024, 240801 % %Q %");
    }
}
