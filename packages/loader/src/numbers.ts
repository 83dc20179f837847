// Generated from crates/sluice-wasm/src/exports.rs by `UPDATE_EXPECT=1 cargo test -p sluice-wasm`.

// The kinds of rows.
export const ANSWER = 1;
export const TEXT = 8;
export const THINKING = 9;
export const THINKING_REPLAY = 10;
export const TOOL_CALL = 11;
export const DATA = 12;
export const CITATIONS = 13;
export const NOTE = 14;
export const ACTION = 15;

// The first extra number of an answer if the exchange needs more of the body.
export const READ = 1;

// The events without data.
export const BODY_ENDED = 0;
export const CANNOT_CONNECT = 1;
export const CONNECTION_BROKE = 2;
export const TIME_IS_UP = 3;
export const CANCEL = 4;
export const CANCEL_UNSEEN = 5;
export const CRASHED = 6;
export const RAN_OUT_OF_MEMORY = 7;
