//! A ledger that is kept in files: its memory, the records of its requests, and what it has reserved.

use super::records::OwnRecords;
use super::reserved::OwnReservations;
use super::{Folder, Shared, ShellWork, hex};
use crate::boundary::{LedgerTask, LimitState, SpendAction, SpendLimits, SpendPeriod, Verdict, WorkTask};
use crate::inspect::Records;
use crate::ledger::{Ended, Ledger};
use crate::message::MessageCode;

/// A ledger, and what of it is in files.
#[derive(Debug)]
pub struct KeptLedger {
    /// The ledger.
    pub ledger: Ledger,
    /// What an inspector shows.
    pub shown: Records,
    pub(super) records: OwnRecords,
    pub(super) reserved: OwnReservations,
}

impl KeptLedger {
    /// Returns a ledger of which nothing is in files yet.
    pub fn new(ledger: Ledger) -> Self {
        let (records, reserved) = (OwnRecords::default(), OwnReservations::default());
        Self { ledger, shown: Records::default(), records, reserved }
    }

    /// A request is over. Its record is saved with the next [`LedgerTask::Save`].
    pub fn keep(&mut self, ended: Option<Ended>) -> Option<Ended> {
        if let Some(Ended { record, .. }) = &ended {
            self.records.add(record);
        }
        ended
    }
}

impl WorkTask<LedgerTask> {
    /// Starts the task. The tasks of a window must not overlap.
    pub fn start(self, kept: &Shared<KeptLedger>) -> ShellWork {
        let Self { task, now_ms, random } = self;
        let start = |folder| LedgerWork { folder, kept: kept.clone(), now_ms, random };
        match task {
            LedgerTask::Load => ShellWork::new(|folder| start(folder).load()),
            LedgerTask::Save => ShellWork::new(|folder| start(folder).save()),
            LedgerTask::Reload => ShellWork::new(|folder| start(folder).reload()),
            LedgerTask::CheckSpending { id, limits } => {
                ShellWork::new(|folder| start(folder).check_spending(id, limits))
            }
            LedgerTask::LimitStates(limits) => ShellWork::new(|folder| start(folder).limit_states(limits)),
            LedgerTask::ReadRecords => ShellWork::new(|folder| start(folder).show()),
        }
    }
}

/// Work on the files of a ledger.
pub(super) struct LedgerWork {
    pub(super) folder: Folder,
    pub(super) kept: Shared<KeptLedger>,
    pub(super) now_ms: u64,
    pub(super) random: [u8; 16],
}

impl LedgerWork {
    async fn load(self) -> Vec<MessageCode> {
        let files = self.read_memory().await;
        let states = self.kept.with(|kept| kept.use_memory(&files));
        self.recall_newest().await;
        self.after_reading(&files, &states).await
    }

    async fn save(self) {
        self.save_all().await;
    }

    async fn reload(self) -> Vec<MessageCode> {
        self.save_all().await;
        let files = self.read_memory().await;
        let states = self.kept.with(|kept| kept.use_memory(&files));
        self.after_reading(&files, &states).await
    }

    async fn check_spending(self, id: String, limits: SpendLimits) -> Verdict {
        let today = self.today();
        if !self.kept.with(|kept| kept.ledger.is_reserved(&id)) {
            self.reserve(|ledger| ledger.reserve(&id, today)).await;
        }
        let conversation = self.kept.with(|kept| kept.ledger.conversation_of(&id));
        // A request without a conversation has its own id in place of one.
        if let Some(conversation) = conversation.filter(|conversation| *conversation != id && limits.has_conversation())
        {
            self.recall_conversation(&conversation).await;
        }
        // What a window has spent is in its file until it is in the files of the memory, which are therefore read last.
        let (names, contents) = self.read_reserved().await;
        self.save_all().await;
        let files = self.read_memory().await;
        // Nothing may happen between these two, because saving changes what is known.
        let (states, check) = self
            .kept
            .with(|kept| (kept.use_memory(&files), kept.ledger.check_spending(&id, &limits, &contents, today)));
        self.after_reading(&files, &states).await;
        for (name, _) in names.into_iter().zip(check.old).filter(|(_, is_old)| *is_old) {
            self.folder.delete(name).await;
        }
        let mut verdict = check.verdict;
        if verdict.action == SpendAction::Stop {
            verdict.text.push(MessageCode::LimitCommand.into());
            self.reserve(|ledger| ledger.release(&id)).await;
        }
        verdict
    }

    async fn limit_states(self, limits: SpendLimits) -> Vec<LimitState> {
        let (_, contents) = self.read_reserved().await;
        let today = self.today();
        let mut states = self.kept.with(|kept| kept.ledger.limit_states(&limits, &contents, today));
        states.retain(|state| matches!(state.period, SpendPeriod::Day | SpendPeriod::Month));
        states
    }

    async fn show(self) {
        self.show_records().await;
    }

    async fn save_all(&self) {
        let is_saved = self.save_memory().await;
        // What has been saved needn't be reserved any more. The limit of a conversation needs the records, too.
        if self.save_records().await && is_saved {
            self.reserve(Ledger::saved).await;
        }
    }

    /// Days since 1970.
    fn today(&self) -> u32 {
        u32::try_from(self.now_ms / 86_400_000).unwrap_or(u32::MAX)
    }

    /// Random numbers for names.
    pub(super) fn random(&self) -> String {
        hex(self.random)
    }
}
