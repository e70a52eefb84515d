//! WARC 1.1 (ISO 28500:2017): writing, reading, and the filter that turns duplicates into revisit records.
//!
//! Writing is pure: a record described by borrowed parts goes in, one finished gzip member comes out ([`mod@write`]). So a
//! worker thread can do the compressing, and whoever owns the file only appends, decides by [`Rotation`] where, and
//! notes a [`cdxj::line`] with the offset. Reading ([`read`]) streams: any number of gzip members or plain records, with
//! the oddities of real files.
//!
//! HTTP heads are written again from what the client library gives (order and case of the fields may differ from the
//! wire), without transfer-coding, and with `HTTP/1.1` in the status line whatever the protocol was, since that is what
//! readers of the format know; the payload keeps its content-encoding byte for byte.

pub mod cdxj;
mod date;
mod digest;
mod fields;
pub mod filter;
pub mod http;
mod id;
pub mod read;
mod rotation;
mod surt;
pub mod write;

pub use date::{now, rfc3339};
pub use digest::{Digest, sha256};
pub use fields::Fields;
pub use id::RecordId;
pub use rotation::{MemberLocation, Rotation};
pub use write::{
    MetadataRecord, RequestRecord, ResponseRecord, RevisitRecord, Revisited, metadata_member, request_member,
    response_member, revisit_member, warcinfo_member,
};

#[cfg(test)]
mod tests;
