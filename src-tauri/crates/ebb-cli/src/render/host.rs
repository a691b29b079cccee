//! The host, what is missing on this machine, and whether a model fits.

use std::fmt::Write as _;

use ebb_core::{
    format_bytes,
    operations::{CheckState, Doctor, Estimate, HostStatus, LoginLink},
};

use super::{Look, Table, stats::duration};

/// Whether a host runs, and how it fares.
pub(crate) fn host_status(status: &HostStatus, look: Look) -> String {
    if !status.running {
        return "no host is running; commands that need one start it\n".into();
    }
    let mut text = format!("{} at {}\n", look.good("running"), status.url.as_deref().unwrap_or("-"));
    let _ = writeln!(text, "version   {}", status.version);
    if let Some(pid) = status.pid {
        let _ = writeln!(text, "process   {pid}, up {}", duration(status.uptime_ms));
    }
    let _ = writeln!(text, "resident  {}, models not counted", format_bytes(status.resident_bytes));
    let models = match (status.models.as_slice(), status.coming_back.as_slice()) {
        ([], []) => "none loaded".to_owned(),
        ([], back) => format!("{} on the way back", back.join(", ")),
        (loaded, []) => loaded.join(", "),
        (loaded, back) => format!("{}; {} on the way back", loaded.join(", "), back.join(", ")),
    };
    let _ = writeln!(text, "models    {models}");
    text
}

/// A link to the page of the host. The address stands alone in its line, to be followed or copied.
pub(crate) fn login_link(link: &LoginLink, look: Look) -> String {
    let life = duration(link.expires_in_ms);
    let how =
        format!("open it in a browser on this machine within {life}; it works once, 'ebb ui' makes another");
    format!("{}\n{}\n", look.bold(&link.url), look.dim(&how))
}

/// What is there, what is missing, and how to get it.
pub(crate) fn doctor(doctor: &Doctor, look: Look) -> String {
    let name_width = doctor.checks.iter().map(|check| check.name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for check in &doctor.checks {
        let mark = match check.state {
            CheckState::Ok => look.good("ok     "),
            CheckState::Warning => look.warn("warning"),
            CheckState::Missing => look.bad("missing"),
        };
        let _ = writeln!(text, "{mark}  {:name_width$}  {}", check.name, check.found);
        if let Some(hint) = &check.hint {
            let _ = writeln!(text, "{:9}{:name_width$}  {}", "", "", look.dim(hint));
        }
    }
    text
}

/// What a model will need, against what is free.
pub(crate) fn estimate(estimate: &Estimate, look: Look) -> String {
    let mut table = Table::new(look, &["", ">estimated"]);
    for (name, bytes) in [
        ("weights", estimate.weights_bytes),
        ("working memory of one full batch", estimate.working_bytes),
        ("in all", estimate.total_bytes),
        ("free now", estimate.available_bytes),
        ("the machine's", estimate.machine_bytes),
    ] {
        table.row([name.to_owned(), format_bytes(bytes)]);
    }
    let verdict = if estimate.fits {
        look.good("fits into what is free now")
    } else if estimate.total_bytes > estimate.available_bytes {
        look.warn("more than is free now; loading is not blocked")
    } else {
        look.bad("cannot be loaded")
    };
    format!("{}  {verdict}\n\n{}\n{}\n", look.bold(&estimate.model), table.text(look), estimate.basis)
}

#[cfg(test)]
mod tests {
    use ebb_core::operations::Check;

    use super::*;

    #[test]
    fn a_host_that_runs_and_one_that_does_not() {
        let mut status = HostStatus {
            running: true,
            url: Some("http://127.0.0.1:4770".into()),
            pid: Some(42),
            version: "0.1.0".into(),
            uptime_ms: 61_000,
            resident_bytes: 9 << 20,
            models: vec!["minilm".into()],
            coming_back: Vec::new(),
        };
        insta::assert_snapshot!(host_status(&status, Look::plain()), @r"
        running at http://127.0.0.1:4770
        version   0.1.0
        process   42, up 1 min 1 s
        resident  9.0 MiB, models not counted
        models    minilm
        ");
        status.coming_back = vec!["smollm2".into(), "moonshine".into()];
        let text = host_status(&status, Look::plain());
        assert!(text.ends_with("models    minilm; smollm2, moonshine on the way back\n"), "{text}");
        status.models.clear();
        let text = host_status(&status, Look::plain());
        assert!(text.ends_with("models    smollm2, moonshine on the way back\n"), "{text}");
        status.running = false;
        assert!(host_status(&status, Look::plain()).starts_with("no host is running"));
    }

    #[test]
    fn a_link_stands_alone_in_its_line() {
        let link = LoginLink { url: "http://127.0.0.1:4770/login?once=1".into(), expires_in_ms: 300_000 };
        insta::assert_snapshot!(login_link(&link, Look::plain()), @r"
        http://127.0.0.1:4770/login?once=1
        open it in a browser on this machine within 5 min 0 s; it works once, 'ebb ui' makes another
        ");
    }

    #[test]
    fn a_check_that_fails_says_what_to_do() {
        let check = |name: &str, state, hint: Option<&str>| Check {
            name: name.into(),
            state,
            found: "found".into(),
            hint: hint.map(Into::into),
        };
        let checks = vec![
            check("library", CheckState::Missing, Some("get one")),
            check("provider.cuda", CheckState::Ok, None),
        ];
        insta::assert_snapshot!(doctor(&Doctor { checks }, Look::plain()), @r"
        missing  library        found
                                get one
        ok       provider.cuda  found
        ");
    }

    #[test]
    fn an_estimate_says_that_it_blocks_nothing() {
        let mut figures = Estimate {
            model: "m".into(),
            weights_bytes: 90 << 20,
            working_bytes: 60 << 20,
            total_bytes: 160 << 20,
            available_bytes: 100 << 20,
            machine_bytes: 8 << 30,
            fits: false,
            basis: "size of the files".into(),
        };
        insta::assert_snapshot!(estimate(&figures, Look::plain()), @r"
        m  more than is free now; loading is not blocked

                                          estimated
        weights                            90.0 MiB
        working memory of one full batch   60.0 MiB
        in all                            160.0 MiB
        free now                          100.0 MiB
        the machine's                       8.0 GiB

        size of the files
        ");
        figures.available_bytes = 1 << 30;
        let text = estimate(&figures, Look::plain());
        assert!(text.starts_with("m  cannot be loaded\n") && !text.contains("fits"), "{text}");
        figures.fits = true;
        assert!(estimate(&figures, Look::plain()).starts_with("m  fits into what is free now\n"));
    }
}
