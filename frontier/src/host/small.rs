//! Lists that mostly have one element. Tens of thousands of hosts are in memory, most of them with one origin, one group
//! and one lane. [`Vec::push`] takes room for four elements at once. By the sizes of their types, that would be some 750 bytes
//! more for each host.

use std::collections::VecDeque;

/// Adds an element. The room doubles, from one element on.
pub fn push<T>(list: &mut Vec<T>, element: T) {
    if list.len() == list.capacity() {
        list.reserve_exact(list.len().max(1));
    }
    list.push(element);
}

/// Does the same at the end of a queue.
pub fn push_back<T>(queue: &mut VecDeque<T>, element: T) {
    if queue.len() == queue.capacity() {
        queue.reserve_exact(queue.len().max(1));
    }
    queue.push_back(element);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_element_takes_room_for_one_and_many_are_moved_seldom() {
        let (mut list, mut queue, mut moves) = (Vec::new(), VecDeque::new(), 0);
        for element in 0..1_000u64 {
            moves += usize::from(list.len() == list.capacity());
            push(&mut list, element);
            push_back(&mut queue, element);
            if element == 0 {
                assert_eq!((list.capacity(), queue.capacity()), (1, 1));
            }
        }
        assert!(list.iter().eq(&queue) && list.len() == 1_000 && moves <= 11, "{moves}");
    }
}
