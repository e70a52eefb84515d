//! Decodes a Content-Encoding piece by piece: gzip, deflate (zlib and raw), br, zstd, and stacks of them. A piece of
//! input gives any number of pieces of output, each of at most [`PIECE`] bytes. The receiver can stop at any of them.
//! So no body takes more memory than its receiver accepts.

use async_compression::codecs::{
    BrotliDecoder, DecodeV2, DeflateDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder, zstd::params::DParameter,
};
use async_compression::core::util::{PartialBuffer, WriteBuffer};

/// The largest piece of output, in bytes.
const PIECE: usize = 16 << 10;
/// The largest number of codings of one body. No honest server stacks more.
const MOST_STAGES: usize = 3;
/// The base-2 logarithm of the largest zstd window. RFC 9659: on the web, a window has at most 8 MiB.
const ZSTD_WINDOW_LOG: u32 = 23;

/// The reason why decoding stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DecodeStop<E> {
    /// The data is broken, or in a coding that cannot be decoded.
    Broken,
    /// A layer unpacked to more bytes than allowed.
    Expands,
    /// The receiver took no more. The value is its error.
    Receiver(E),
}

/// The coding of one layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

impl Coding {
    /// Finds a coding by its name. `Ok(None)` for a name that stands for no coding: a server that says `UTF-8` or
    /// `none` sends the plain body, and browsers read it as such.
    fn named(name: &str) -> Result<Option<Self>, ()> {
        match name {
            "gzip" | "x-gzip" => Ok(Some(Coding::Gzip)),
            "deflate" => Ok(Some(Coding::Deflate)),
            "br" => Ok(Some(Coding::Brotli)),
            "zstd" => Ok(Some(Coding::Zstd)),
            "compress" | "x-compress" | "pack200-gzip" | "exi" | "dcb" | "dcz" => Err(()),
            _ => Ok(None),
        }
    }

    /// The most bytes of history that a decoder of this coding keeps besides its output.
    fn window(self) -> u64 {
        match self {
            Coding::Gzip | Coding::Deflate => 32 << 10,
            Coding::Brotli => 16 << 20,
            Coding::Zstd => 1 << ZSTD_WINDOW_LOG,
        }
    }

    /// Makes a decoder. `first` is the first byte of the data. It tells a zlib header from raw deflate. (RFC 9110
    /// defines `deflate` as zlib, but many servers send raw deflate.)
    fn decoder(self, first: u8) -> Box<dyn DecodeV2 + Send> {
        match self {
            Coding::Gzip => Box::new(GzipDecoder::new()),
            Coding::Deflate if first & 0x0f == 8 && first >> 4 <= 7 => Box::new(ZlibDecoder::new()),
            Coding::Deflate => Box::new(DeflateDecoder::new()),
            Coding::Brotli => Box::new(BrotliDecoder::new()),
            Coding::Zstd => Box::new(ZstdDecoder::new_with_params(&[DParameter::window_log_max(ZSTD_WINDOW_LOG)])),
        }
    }
}

/// Decodes one body.
pub(super) struct Decoder {
    /// The layers. The coding that was applied last comes first.
    stages: Vec<Stage>,
}

impl Decoder {
    /// Makes a decoder for the values of `Content-Encoding`, in their order; `None` if the body is plain.
    pub(super) fn new<'a>(values: impl Iterator<Item = &'a str>) -> Result<Option<Self>, DecodeStop<()>> {
        let mut stages = Vec::new();
        for name in values.flat_map(|value| value.split(',')) {
            let name = name.trim().to_ascii_lowercase();
            let coding = Coding::named(&name).map_err(|()| DecodeStop::Broken)?;
            stages.extend(coding.map(Stage::new));
        }
        stages.reverse();
        match stages.len() {
            0 => Ok(None),
            1..=MOST_STAGES => Ok(Some(Self { stages })),
            _ => Err(DecodeStop::Broken),
        }
    }

    /// Decodes `input`, and passes each piece of output to `receive`. No layer may put out more than `most` bytes since
    /// the start of the body. This bounds each layer, because one may unpack to gigabytes of which the next makes
    /// nothing.
    pub(super) fn push<E>(
        &mut self,
        input: &[u8],
        most: u64,
        receive: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), DecodeStop<E>> {
        push(&mut self.stages, input, most, receive)
    }

    /// Ends the body. Returns whether every layer is complete. A body without bytes is complete.
    pub(super) fn finish(&mut self) -> bool {
        self.stages.iter_mut().all(|stage| {
            let mut output = WriteBuffer::new_initialized(&mut stage.piece);
            stage.ended || stage.decoder.as_mut().is_none_or(|decoder| matches!(decoder.finish(&mut output), Ok(true)))
        })
    }

    /// The most bytes of history that the decoders hold. This grows with their output.
    pub(super) fn held(&self) -> u64 {
        self.stages.iter().map(|stage| stage.produced.min(stage.coding.window())).sum()
    }
}

/// One layer of a coding.
struct Stage {
    coding: Coding,
    /// The decoder. It is made when the first byte is known.
    decoder: Option<Box<dyn DecodeV2 + Send>>,
    piece: Box<[u8]>,
    produced: u64,
    ended: bool,
}

impl Stage {
    fn new(coding: Coding) -> Self {
        Self { coding, decoder: None, piece: vec![0; PIECE].into_boxed_slice(), produced: 0, ended: false }
    }
}

fn push<E>(
    stages: &mut [Stage],
    input: &[u8],
    most: u64,
    receive: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), DecodeStop<E>> {
    let Some((stage, rest)) = stages.split_first_mut() else { return receive(input).map_err(DecodeStop::Receiver) };
    let Some(first) = input.first() else { return Ok(()) };
    let decoder = stage.decoder.get_or_insert_with(|| stage.coding.decoder(*first));
    let mut input = PartialBuffer::new(input);
    loop {
        if stage.ended {
            // gzip may go on with another member. Other bytes after the end are padding, which browsers ignore, too.
            if stage.coding != Coding::Gzip || !input.unwritten().starts_with(&[0x1f]) {
                return Ok(());
            }
            decoder.reinit().map_err(|_| DecodeStop::Broken)?;
            stage.ended = false;
        }
        let mut output = WriteBuffer::new_initialized(&mut stage.piece);
        let before = input.written_len();
        // Some output did not fit into the last piece. Without input, zlib reports an error unless it is asked to
        // flush.
        let flush = input.unwritten().is_empty() && matches!(stage.coding, Coding::Gzip | Coding::Deflate);
        let ended = match flush {
            true => decoder.flush(&mut output).map(|_| false),
            false => decoder.decode(&mut input, &mut output),
        };
        let written = output.written_len();
        if written > 0 {
            // This is also done after an error: the output before the damage is good.
            stage.produced += written as u64;
            push(rest, &stage.piece[..written], most, receive)?;
            if stage.produced > most {
                return Err(DecodeStop::Expands);
            }
        }
        stage.ended = ended.map_err(|_| DecodeStop::Broken)?;
        if stage.ended {
            continue;
        }
        if input.unwritten().is_empty() {
            if written < PIECE {
                return Ok(());
            }
        } else if written == 0 && input.written_len() == before {
            return Err(DecodeStop::Broken);
        }
    }
}

#[cfg(test)]
mod tests;
