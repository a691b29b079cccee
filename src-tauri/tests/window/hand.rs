//! What a person does at a desk: looks at a part of the page, reads what it says, presses, ticks and types.
//!
//! Parts and controls are known by the names under which the page is read aloud. What is done is done anew where the page
//! was drawn again meanwhile.

use std::time::{Duration, Instant};

use fantoccini::{
    Locator,
    actions::{InputSource as _, KeyAction, KeyActions},
    elements::Element,
    error::CmdError,
    key::Key,
};
use serde_json::Value;
use tokio::time::sleep;

use crate::desk::Desk;

/// What a real model may take in a debug build while another build runs.
const PATIENCE: Duration = Duration::from_secs(180);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A part of the page.
pub(crate) struct Part<'a> {
    desk: &'a Desk<'a>,
    /// Its place, as XPath.
    place: String,
}

impl Desk<'_> {
    /// The first part of the page with this name: a dialog, a region, a table.
    pub(crate) fn at(&self, name: &str) -> Part<'_> {
        let titled = format!("@aria-labelledby = //*[normalize-space() = '{name}']/@id");
        let captioned = format!("caption[normalize-space() = '{name}']");
        Part { desk: self, place: format!("(//*[@aria-label = '{name}' or {titled} or {captioned}])[1]") }
    }

    /// The view, without what lies around it.
    pub(crate) fn view(&self) -> Part<'_> {
        Part { desk: self, place: "//main".into() }
    }

    /// Presses a key, with Control held down where that is asked for.
    async fn key(&self, key: char, control: bool) {
        let mut keys = KeyActions::new("keyboard".into());
        let held = control.then_some(Key::Control.into());
        for value in held.into_iter().chain([key]) {
            keys = keys.then(KeyAction::Down { value });
        }
        for value in [key].into_iter().chain(held) {
            keys = keys.then(KeyAction::Up { value });
        }
        self.page.perform_actions(keys).await.expect("a key is pressed");
    }

    /// Presses Enter.
    pub(crate) async fn enter(&self) {
        self.key(Key::Enter.into(), false).await;
    }

    /// Goes to a view by its number. A page that has just come does not hear keys yet.
    pub(crate) async fn goes_to(&self, view: char) {
        let link = format!("//nav//a[@aria-keyshortcuts = 'Control+{view}' and @aria-current = 'page']");
        let there = Part { desk: self, place: link };
        let begun = Instant::now();
        while there.text().await.is_none() {
            assert!(begun.elapsed() < PATIENCE, "Ctrl+{view} is not heard");
            self.key(view, true).await;
        }
    }

    /// Loads a model of the list with the options that it has.
    pub(crate) async fn loads(&self, model: &str) {
        self.view().press(&format!("Load: {model}")).await;
        self.at(&format!("Load {model}")).press("Load").await;
        self.at_notices().says(&format!("{model} is in memory")).await;
    }

    /// What is told in passing.
    pub(crate) fn at_notices(&self) -> Part<'_> {
        Part { desk: self, place: "//*[@popover]".into() }
    }

    /// What went wrong in a dialog.
    pub(crate) fn alert_in(&self, dialog: &str) -> Part<'_> {
        let place = format!("{}//*[@role = 'alert']", self.at(dialog).place);
        Part { desk: self, place }
    }

    /// The answer that was written last, or is being written.
    pub(crate) fn last_answer(&self) -> Part<'_> {
        Part { desk: self, place: "(//*[@role = 'log']//li)[last()]".into() }
    }
}

impl Part<'_> {
    /// What it says now; `None` while it is not there.
    pub(crate) async fn text(&self) -> Option<String> {
        let script = "
            const first = XPathResult.FIRST_ORDERED_NODE_TYPE;
            return document.evaluate(given[0], document, null, first).singleNodeValue?.innerText ?? null;";
        self.desk.run(script, vec![self.place.clone().into()]).await.as_str().map(str::to_owned)
    }

    /// Waits until it says something; all that it says then. Capitals are the look's.
    pub(crate) async fn says(&self, what: &str) -> String {
        let said = what.to_lowercase();
        self.says_that(&format!("{what:?}"), |text| text.to_lowercase().contains(&said)).await
    }

    /// The same, for what is not known word by word.
    pub(crate) async fn says_that(&self, what: &str, is_it: impl Fn(&str) -> bool) -> String {
        let begun = Instant::now();
        loop {
            let text = self.text().await;
            if let Some(text) = text.as_deref().filter(|text| is_it(text)) {
                return text.to_owned();
            }
            if begun.elapsed() > PATIENCE {
                panic!(
                    "{} does not say {what} but: {text:?}; the page: {}",
                    self.place,
                    self.desk.text().await
                );
            }
            sleep(LOOK_EVERY).await;
        }
    }

    /// Waits until it is not there any more.
    pub(crate) async fn goes(&self) {
        let begun = Instant::now();
        while let Some(text) = self.text().await {
            assert!(begun.elapsed() < PATIENCE, "{} stays: {text}", self.place);
            sleep(LOOK_EVERY).await;
        }
    }

    /// Presses a button, once it can be pressed.
    pub(crate) async fn press(&self, name: &str) {
        let button = format!("//button[{} and not(@disabled)]", named(name));
        self.does(&format!("press {name:?}"), &button, async |button| button.click().await).await;
    }

    /// Follows a link.
    pub(crate) async fn follow(&self, name: &str) {
        let link = format!("//a[{} or @title = '{name}']", named(name));
        self.does(&format!("follow {name:?}"), &link, async |link| link.click().await).await;
    }

    /// Opens what is folded away under a title.
    pub(crate) async fn unfold(&self, title: &str) {
        let title = format!("//summary[starts-with(normalize-space(), '{title}')]");
        self.does("unfold", &title, async |title| title.click().await).await;
    }

    /// Ticks a box.
    pub(crate) async fn tick(&self, name: &str) {
        let field = format!("//input[@type = 'checkbox' and not(@disabled)][{}]", labelled(name));
        self.does(&format!("tick {name:?}"), &field, async |field| field.click().await).await;
    }

    /// Writes into a field, in the place of what it held.
    pub(crate) async fn write(&self, field: &str, text: &str) {
        let path = format!("//*[self::input or self::textarea][{}]", labelled(field));
        let write = async |field: Element| {
            field.click().await?;
            self.desk.key('a', true).await;
            self.desk.key(Key::Delete.into(), false).await;
            if text.is_empty() { Ok(()) } else { field.send_keys(text).await }
        };
        self.does(&format!("write into {field:?}"), &path, write).await;
    }

    /// What a field holds.
    pub(crate) async fn held(&self, field: &str) -> String {
        let path = format!("//*[self::input or self::textarea][{}]", labelled(field));
        self.does(&format!("read {field:?}"), &path, async |field| field.prop("value").await)
            .await
            .expect("a field has a value")
    }

    /// Does something with an element of this part, once that is possible.
    async fn does<T>(
        &self,
        what: &str,
        element: &str,
        act: impl AsyncFn(Element) -> Result<T, CmdError>,
    ) -> T {
        let path = format!("{}{element}", self.place);
        let begun = Instant::now();
        loop {
            let tried = match self.desk.page.find(Locator::XPath(&path)).await {
                Ok(element) => act(element).await,
                Err(error) => Err(error),
            };
            match tried {
                Ok(done) => return done,
                Err(error) if begun.elapsed() > PATIENCE => {
                    panic!("cannot {what}: {error}; the page: {}", self.desk.text().await)
                }
                Err(_) => sleep(LOOK_EVERY).await,
            }
        }
    }
}

/// A control whose words, or the words for those who hear it, are these.
fn named(name: &str) -> String {
    format!("(@aria-label = '{name}' or (not(@aria-label) and normalize-space() = '{name}'))")
}

/// A field with this label, before it, around it or unseen.
fn labelled(name: &str) -> String {
    let label = format!("label[normalize-space() = '{name}']");
    format!("@aria-label = '{name}' or ancestor::{label} or @id = //{label}/@for")
}

/// A size as the page writes it. Halves are rounded up, as a browser does.
pub(crate) fn size(bytes: &Value) -> String {
    let bytes = u128::from(bytes.as_u64().unwrap_or_else(|| panic!("{bytes} is no size")));
    let (mut unit, mut name) = (1, "B");
    for next in ["KiB", "MiB", "GiB", "TiB"] {
        // 1023.95 would be written as 1024.0.
        if bytes * 100 < unit * 102_395 {
            break;
        }
        (unit, name) = (unit * 1024, next);
    }
    let scale = match name {
        "B" => return format!("{bytes} B"),
        "GiB" | "TiB" => 100,
        _ => 10,
    };
    let digits = if scale == 100 { 2 } else { 1 };
    let rounded = (bytes * scale * 2 + unit) / (unit * 2);
    format!("{}.{:0digits$} {name}", rounded / scale, rounded % scale)
}
