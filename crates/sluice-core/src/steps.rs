//! Work that takes several steps, each of which only a shell can do: use a file, ask the user.
//!
//! It is written as an `async` function, as if the core could do everything itself. A [`Work`] runs such a function up to its
//! next step, which the shell carries out, and continues it with the answer.

use std::cell::Cell;
use std::future::poll_fn;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// Work that has been started.
pub(crate) struct Work<Step, Answer, Output> {
    /// `None` when it is done.
    function: Option<Pin<Box<dyn Future<Output = Output>>>>,
    steps: Steps<Step, Answer>,
}

impl<Step, Answer, Output> Work<Step, Answer, Output> {
    /// Starts an `async` function, which asks for its steps through the parameter.
    pub(crate) fn new<F>(function: impl FnOnce(Steps<Step, Answer>) -> F) -> Self
    where
        F: Future<Output = Output> + 'static,
    {
        let steps = Steps(Rc::default());
        let function = function(Steps(Rc::clone(&steps.0)));
        Self { function: Some(Box::pin(function)), steps }
    }

    /// Returns the next step, or the output when the work is done, and nothing after that. `answer` is what the last step led to;
    /// there is none at the beginning.
    pub(crate) fn next(&mut self, answer: Option<Answer>) -> Option<ControlFlow<Output, Step>> {
        self.steps.0.answer.set(answer);
        match self.function.as_mut()?.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => self.steps.0.step.take().map(ControlFlow::Continue),
            Poll::Ready(output) => {
                self.function = None;
                Some(ControlFlow::Break(output))
            }
        }
    }

    /// Returns whether the function has returned.
    pub(crate) fn is_done(&self) -> bool {
        self.function.is_none()
    }
}

/// What an `async` function uses to have its steps carried out.
pub(crate) struct Steps<Step, Answer>(Rc<StepAndAnswer<Step, Answer>>);

impl<Step, Answer> Steps<Step, Answer> {
    /// Has a step carried out.
    pub(crate) async fn ask(&self, step: Step) -> Answer {
        self.0.step.set(Some(step));
        poll_fn(|_| self.0.answer.take().map_or(Poll::Pending, Poll::Ready)).await
    }
}

/// The step that is next, and the answer to it.
struct StepAndAnswer<Step, Answer> {
    step: Cell<Option<Step>>,
    answer: Cell<Option<Answer>>,
}

impl<Step, Answer> Default for StepAndAnswer<Step, Answer> {
    fn default() -> Self {
        Self { step: Cell::new(None), answer: Cell::new(None) }
    }
}
