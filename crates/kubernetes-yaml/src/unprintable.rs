//! Characters that a terminal or an editor does not show as they are.

/// Returns whether a character is invisible, or changes how the text around it is shown: control characters, marks that
/// reverse the direction of text, characters without a width, and separators of lines and paragraphs.
///
/// A reviewer who looks at a text with such a character does not see what a program reads. Line breaks and tabs are control
/// characters too.
///
/// ```
/// use kubernetes_yaml::is_unprintable;
///
/// assert!("\u{1b}\u{9b}\u{202e}\u{200b}\u{2028}\n".chars().all(is_unprintable));
/// assert!(!"a ä 漢".chars().any(is_unprintable));
/// ```
pub fn is_unprintable(character: char) -> bool {
    character.is_control()
        || character > '\u{ac}'
            && matches!(
                character,
                // Unicode's property Default_Ignorable_Code_Point, which includes the marks for the direction of text.
                '\u{ad}'
                    | '\u{34f}'
                    | '\u{61c}'
                    | '\u{115f}'..='\u{1160}'
                    | '\u{17b4}'..='\u{17b5}'
                    | '\u{180b}'..='\u{180f}'
                    | '\u{200b}'..='\u{200f}'
                    | '\u{2028}'..='\u{202e}'
                    | '\u{2060}'..='\u{206f}'
                    | '\u{3164}'
                    | '\u{fe00}'..='\u{fe0f}'
                    | '\u{feff}'
                    | '\u{ffa0}'
                    | '\u{fff0}'..='\u{fffb}'
                    | '\u{1bca0}'..='\u{1bca3}'
                    | '\u{1d173}'..='\u{1d17a}'
                    | '\u{e0000}'..='\u{e0fff}'
            )
}
