//! The places of cells in a table whose cells span several columns or rows (HTML standard, "forming a table").

/// A cell, and the numbers of columns and rows that it spans.
pub struct Cell<T> {
    pub content: T,
    pub columns: usize,
    pub rows: usize,
}

/// The rows of a table, at most `most` cells wide. A cell stands at its first place; its other places are empty.
pub fn places<T: Default>(rows: Vec<Vec<Cell<T>>>, most: usize) -> Vec<Vec<T>> {
    // For each column: the number of rows below that a cell above still spans.
    let mut spanned: Vec<usize> = Vec::new();
    let place = |cells: Vec<Cell<T>>| {
        let mut row = Vec::new();
        let skip = |row: &mut Vec<T>, spanned: &mut Vec<usize>| {
            while let Some(left) = spanned.get_mut(row.len()).filter(|left| **left > 0) {
                *left -= 1;
                row.push(T::default());
            }
        };
        for Cell { content, columns, rows } in cells {
            skip(&mut row, &mut spanned);
            let mut content = Some(content);
            for _ in 0..columns.clamp(1, most) {
                if row.len() >= most {
                    break;
                }
                if spanned.len() <= row.len() {
                    spanned.resize(row.len() + 1, 0);
                }
                spanned[row.len()] = rows.max(1) - 1;
                row.push(content.take().unwrap_or_default());
            }
        }
        skip(&mut row, &mut spanned);
        row
    };
    rows.into_iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(content: &str, columns: usize, rows: usize) -> Cell<String> {
        Cell { content: content.into(), columns, rows }
    }

    #[test]
    fn cells_that_span_others_leave_their_places_empty() {
        let rows = vec![
            vec![cell("a", 1, 2), cell("b", 2, 1)],
            vec![cell("c", 1, 1), cell("d", 1, 3)],
            vec![cell("e", 0, 0)],
            vec![cell("f", 2, 1)],
        ];
        let expected = [vec!["a", "b", ""], vec!["", "c", "d"], vec!["e"], vec!["f", "", ""]];
        assert_eq!(places(rows, 64), expected);
        assert_eq!(places(vec![vec![cell("a", 1_000_000, 1_000_000), cell("b", 1, 1)]], 3), [["a", "", ""]]);
    }
}
