//! An allocator that keeps small blocks in free lists, one for each size.
//!
//! A text delta allocates one small block and frees it. The standard allocator does that in one large function. An
//! engine that optimizes whatever is called often considers that function hot, and optimizing it took longer than
//! reading the first answer.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;

const STEP: usize = 16;
const LISTS: usize = 16;
/// What the standard allocator guarantees for any block.
const ALIGN: usize = 8;

pub struct SmallBlocks {
    /// The free list for each size. The first word of a free block points to the next.
    free: [Cell<*mut u8>; LISTS],
    ran_out: Cell<bool>,
}

// SAFETY: there is one thread.
unsafe impl Sync for SmallBlocks {}

impl SmallBlocks {
    pub const fn new() -> Self {
        Self { free: [const { Cell::new(ptr::null_mut()) }; LISTS], ran_out: Cell::new(false) }
    }

    /// Whether an allocation failed. After a trap, JavaScript reads this to find out why.
    pub fn ran_out(&self) -> bool {
        self.ran_out.get()
    }

    fn checked(&self, block: *mut u8) -> *mut u8 {
        if block.is_null() {
            self.ran_out.set(true);
        }
        block
    }

    /// Returns the free list for blocks of this layout, or `None` if the standard allocator handles them.
    fn list(&self, layout: Layout) -> Option<&Cell<*mut u8>> {
        if layout.align() > ALIGN { None } else { self.free.get(layout.size().wrapping_sub(1) / STEP) }
    }
}

/// The layout that all blocks in a list have.
fn rounded(layout: Layout) -> Layout {
    // SAFETY: the size is at most `STEP * LISTS`, and the alignment is valid.
    unsafe { Layout::from_size_align_unchecked(layout.size().next_multiple_of(STEP), ALIGN) }
}

#[expect(clippy::cast_ptr_alignment, reason = "every block is aligned for any word")]
// SAFETY: blocks come from the standard allocator with the size and alignment of their list. They are in no list while
// they are in use, and are never returned.
unsafe impl GlobalAlloc for SmallBlocks {
    #[inline(never)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(list) = self.list(layout) else { return self.checked(unsafe { System.alloc(layout) }) };
        let block = list.get();
        if block.is_null() {
            return self.checked(unsafe { System.alloc(rounded(layout)) });
        }
        list.set(unsafe { block.cast::<*mut u8>().read() });
        block
    }

    #[inline(never)]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        match self.list(layout) {
            None => unsafe { System.dealloc(block, layout) },
            Some(list) => {
                unsafe { block.cast::<*mut u8>().write(list.get()) };
                list.set(block);
            }
        }
    }

    #[inline(never)]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: guaranteed by the caller.
        let larger = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (self.list(layout), self.list(larger)) {
            (None, None) => self.checked(unsafe { System.realloc(block, layout, size) }),
            (Some(list), Some(other)) if ptr::eq(list, other) => block,
            _ => unsafe {
                let moved = self.alloc(larger);
                if !moved.is_null() {
                    ptr::copy_nonoverlapping(block, moved, layout.size().min(size));
                    self.dealloc(block, layout);
                }
                moved
            },
        }
    }
}
