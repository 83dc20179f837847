//! Handles one WebSocket connection: reads a message, sends its events, and continues with the next message.

use std::sync::Arc;

use axum::extract::ws::{CloseFrame, Message, WebSocket};

use super::connection::Control;
use super::stream::pause;
use super::{Shared, now_ms};
use crate::http::{End, Request};
use crate::respond::Socket;

pub async fn run(shared: Arc<Shared>, control: Control, opened: Request, mut web_socket: WebSocket) {
    let mut socket = Socket::default();
    while let Some(Ok(message)) = web_socket.recv().await {
        let text = match message {
            Message::Text(text) => text,
            Message::Close(_) => break,
            Message::Ping(_) | Message::Pong(_) => continue,
            Message::Binary(_) => {
                let frame = CloseFrame { code: 1003, reason: "text only".into() };
                let _ = web_socket.send(Message::Close(Some(frame))).await;
                break;
            }
        };
        shared.record(Request { method: "MESSAGE".into(), body: text.as_bytes().to_vec(), ..opened.clone() });
        let mut open = shared.tally.open();
        let reply = shared.responder.message(&mut socket, &opened, &text, now_ms());
        for message in reply.messages {
            pause(message.delay_ms).await;
            let text = String::from_utf8_lossy(&message.bytes).into_owned();
            if web_socket.send(Message::Text(text.into())).await.is_err() {
                return;
            }
        }
        match reply.end {
            End::Finish => open.finish(),
            End::Cut => return,
            End::Reset => return control.reset(),
            End::Hang | End::Repeat(_) => std::future::pending().await,
        }
        if let Some((code, reason)) = reply.close {
            let _ = web_socket.send(Message::Close(Some(CloseFrame { code, reason: reason.into() }))).await;
            break;
        }
    }
}
