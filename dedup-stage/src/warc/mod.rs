//! WARC 1.1 (ISO 28500:2017): a writer and a reader.
//!
//! Writing is pure: a function gets the parts of a record, and returns one finished gzip member ([`mod@write`]). So
//! worker threads can compress. The owner of the file only asks [`Rotation`] which file is next, appends the member,
//! and writes a [`cdxj::line`] with its offset. Reading ([`read`]) streams. It takes any number of gzip members or
//! plain records, with the oddities of real files. What is packed with zstd is unpacked before ([`frames`]).
//!
//! HTTP heads are made from what the HTTP client gives, so the order and case of fields may differ from the wire. They
//! have no transfer-coding. The status line always has `HTTP/1.1`, because readers of the format know no other version.
//! The payload keeps its content-encoding byte for byte.

pub mod cdxj;
mod date;
mod digest;
mod fields;
#[cfg(feature = "tools")]
pub mod frames;
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
