//! Timestamps as go-yaml knows them: the four layouts that it gives to Go's `time.Parse`.

/// Returns whether go-yaml accepts the text after the tag `!!timestamp`.
pub(crate) fn is_timestamp(text: &str) -> bool {
    let mut parser = Parser(text.as_bytes());
    let Some(()) = parser.date() else { return false };
    match parser.0 {
        [] => true,
        [b'T' | b't', ..] => {
            parser.0 = &parser.0[1..];
            parser.time().and_then(|()| parser.zone()).is_some() && parser.0.is_empty()
        }
        [b' ', ..] => {
            parser.0 = parser.0.trim_ascii_start();
            parser.time().is_some() && parser.0.is_empty()
        }
        _ => false,
    }
}

/// The rest of a text.
struct Parser<'a>(&'a [u8]);

impl Parser<'_> {
    fn date(&mut self) -> Option<()> {
        let (year, rest) = self.0.split_at_checked(4)?;
        let year: u32 = std::str::from_utf8(year).ok().filter(|year| is_digits(year))?.parse().ok()?;
        self.0 = rest;
        self.byte(b"-")?;
        let month = self.number(1..=12)?;
        self.byte(b"-")?;
        self.number(1..=days(month, year)).map(drop)
    }

    fn time(&mut self) -> Option<()> {
        self.number(0..=23)?;
        self.byte(b":")?;
        self.number(0..=59)?;
        self.byte(b":")?;
        self.number(0..=59)?;
        if let [b'.' | b',', b'0'..=b'9', ..] = self.0 {
            let digits = self.0[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            self.0 = &self.0[1 + digits..];
        }
        Some(())
    }

    fn zone(&mut self) -> Option<()> {
        if self.byte(b"Z").is_some() {
            return Some(());
        }
        self.byte(b"+-")?;
        let [b'0'..=b'9', b'0'..=b'9', b':', b'0'..=b'9', b'0'..=b'9', ..] = self.0 else { return None };
        self.number(0..=24)?;
        self.byte(b":")?;
        self.number(0..=60).map(drop)
    }

    /// Reads one of the bytes.
    fn byte(&mut self, any: &[u8]) -> Option<()> {
        let (first, rest) = self.0.split_first()?;
        any.contains(first).then(|| self.0 = rest)
    }

    /// Reads a number of one or two digits.
    fn number(&mut self, range: std::ops::RangeInclusive<u32>) -> Option<u32> {
        let digits = self.0.iter().take(2).take_while(|byte| byte.is_ascii_digit()).count();
        let (number, rest) = self.0.split_at(digits);
        let number = std::str::from_utf8(number).ok()?.parse().ok()?;
        self.0 = rest;
        range.contains(&number).then_some(number)
    }
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn days(month: u32, year: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        _ => 31,
    }
}
