//! Connections that can be broken on purpose.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// A handle that lets the code that answers break the connection.
#[derive(Clone, Debug, Default)]
pub struct Control(Arc<AtomicBool>);

impl Control {
    /// Breaks the connection with RST: nothing more is read or written, and unsent data is lost.
    pub fn reset(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    fn is_reset(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    control: Control,
}

impl Connection {
    pub fn new(stream: TcpStream) -> Self {
        // Every write is a whole frame and should be sent immediately.
        let _ = stream.set_nodelay(true);
        Self { stream, control: Control::default() }
    }

    pub fn control(&self) -> Control {
        self.control.clone()
    }

    fn alive(&mut self) -> io::Result<Pin<&mut TcpStream>> {
        if self.control.is_reset() {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        Ok(Pin::new(&mut self.stream))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.control.is_reset() {
            // Closing a socket with zero linger time sends RST instead of FIN.
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.alive()?.poll_read(cx, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.alive()?.poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.alive()?.poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.alive()?.poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.alive()?.poll_shutdown(cx)
    }
}
