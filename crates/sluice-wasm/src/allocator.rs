//! The standard allocator, and whether it has run out of memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

pub struct Memory {
    ran_out: Cell<bool>,
}

// SAFETY: there is one thread.
unsafe impl Sync for Memory {}

impl Memory {
    pub const fn new() -> Self {
        Self { ran_out: Cell::new(false) }
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
}

// SAFETY: all blocks are the standard allocator's.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.checked(unsafe { System.alloc(layout) })
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        self.checked(unsafe { System.realloc(block, layout, size) })
    }
}
