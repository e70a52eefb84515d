//! Digest access authentication (RFC 7616). It proves that the client has a password, without sending the password.

use md5::Md5;
use sha2::{Digest, Sha256, Sha512_256};

/// The challenge of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Challenge {
    realm: String,
    nonce: String,
    opaque: Option<String>,
    algorithm: Algorithm,
    is_session: bool,
    /// Whether the server accepts `qop=auth`. Otherwise the old form of RFC 2069 is used.
    has_qop: bool,
    user_hash: bool,
    /// Whether the last answer was right, but its nonce too old.
    pub stale: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Algorithm {
    #[default]
    Md5,
    Sha256,
    Sha512_256,
}

/// The most parameters of a challenge that are read.
const MAX_PARAMETERS: usize = 32;

impl Challenge {
    /// Reads one value of `WWW-Authenticate`, which may have several challenges: the first digest challenge that can be
    /// answered. `None` if there is none.
    pub fn read(value: &str) -> Option<Self> {
        challenges(value)
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("digest"))
            .find_map(|(_, rest)| Self::of(rest))
    }

    /// Whether a value of `Authorization` answers this challenge.
    pub fn is_answered_by(&self, sent: &str) -> bool {
        sent.contains(&format!(" nonce={},", quoted(&self.nonce)))
    }

    /// Whether another challenge has the same nonce.
    pub fn has_nonce_of(&self, other: &Self) -> bool {
        self.nonce == other.nonce
    }

    /// Reads the parameters of a digest challenge.
    fn of(rest: &str) -> Option<Self> {
        let mut challenge = Self::default();
        let mut has_nonce = false;
        for (name, value) in parameters(rest).take(MAX_PARAMETERS) {
            match name.to_ascii_lowercase().as_str() {
                "realm" => challenge.realm = value,
                "nonce" => (challenge.nonce, has_nonce) = (value, true),
                "opaque" => challenge.opaque = Some(value),
                "stale" => challenge.stale = value.eq_ignore_ascii_case("true"),
                "userhash" => challenge.user_hash = value.eq_ignore_ascii_case("true"),
                "qop" => {
                    // The server offers only auth-int. That signs the body of the request, too, which is not known
                    // here.
                    challenge.has_qop = value.split(',').any(|word| word.trim().eq_ignore_ascii_case("auth"));
                    if !challenge.has_qop {
                        return None;
                    }
                }
                "algorithm" => {
                    let name = value.to_ascii_lowercase();
                    let base = name.strip_suffix("-sess");
                    challenge.is_session = base.is_some();
                    challenge.algorithm = match base.unwrap_or(&name) {
                        "md5" => Algorithm::Md5,
                        "sha-256" => Algorithm::Sha256,
                        "sha-512-256" => Algorithm::Sha512_256,
                        _ => return None,
                    };
                }
                _ => {}
            }
        }
        has_nonce.then_some(challenge)
    }

    /// The value of `Authorization`. It is answer number `count` to this challenge, counted from 1 (RFC 7616, section
    /// 3.4).
    pub fn answer(
        &self,
        user: &str,
        password: &str,
        method: &str,
        target: &str,
        count: u32,
        client_nonce: &str,
    ) -> String {
        let Self { realm, nonce, .. } = self;
        let mut secret = self.hash(&format!("{user}:{realm}:{password}"));
        if self.is_session {
            secret = self.hash(&format!("{secret}:{nonce}:{client_nonce}"));
        }
        let asked = self.hash(&format!("{method}:{target}"));
        let response = if self.has_qop {
            self.hash(&format!("{secret}:{nonce}:{count:08x}:{client_nonce}:auth:{asked}"))
        } else {
            self.hash(&format!("{secret}:{nonce}:{asked}"))
        };
        let name = if self.user_hash { self.hash(&format!("{user}:{realm}")) } else { user.to_owned() };
        let mut text = format!(
            "Digest username={}, realm={}, uri={}, algorithm={}{}, nonce={}",
            quoted(&name),
            quoted(realm),
            quoted(target),
            match self.algorithm {
                Algorithm::Md5 => "MD5",
                Algorithm::Sha256 => "SHA-256",
                Algorithm::Sha512_256 => "SHA-512-256",
            },
            if self.is_session { "-sess" } else { "" },
            quoted(nonce),
        );
        if self.has_qop {
            text.push_str(&format!(", nc={count:08x}, cnonce={}, qop=auth", quoted(client_nonce)));
        }
        text.push_str(&format!(", response={}", quoted(&response)));
        if let Some(opaque) = &self.opaque {
            text.push_str(&format!(", opaque={}", quoted(opaque)));
        }
        if self.user_hash {
            text.push_str(", userhash=true");
        }
        text
    }

    fn hash(&self, text: &str) -> String {
        fn digits<D: Digest>(text: &str) -> String {
            D::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
        }
        match self.algorithm {
            Algorithm::Md5 => digits::<Md5>(text),
            Algorithm::Sha256 => digits::<Sha256>(text),
            Algorithm::Sha512_256 => digits::<Sha512_256>(text),
        }
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The challenges of one value of `WWW-Authenticate`: their schemes and parameters (RFC 9110, section 11.6.1). Commas
/// part both challenges and parameters, so a scheme is known by the space after it.
fn challenges(value: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut starts: Vec<usize> = items(value).filter(|at| begins_challenge(&value[*at..])).collect();
    starts.push(value.len());
    (1..starts.len()).map(move |n| {
        let challenge = value[starts[n - 1]..starts[n]].trim();
        let end = challenge.find(|c: char| c.is_whitespace() || c == ',').unwrap_or(challenge.len());
        (&challenge[..end], &challenge[end..])
    })
}

/// Whether an item of a list begins with a scheme. Otherwise it begins with the name of a parameter and `=`.
fn begins_challenge(item: &str) -> bool {
    let end = item.find(|c: char| c.is_whitespace() || "=,\"".contains(c)).unwrap_or(item.len());
    end > 0 && !item[end..].trim_start().starts_with(['=', '"'])
}

/// The places at which the items of a list begin. Commas within quotes part nothing.
fn items(list: &str) -> impl Iterator<Item = usize> {
    let (mut quoted, mut escaped, mut is_start) = (false, false, true);
    list.char_indices().filter_map(move |(at, c)| {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ',' if !quoted => is_start = true,
            c if is_start && !c.is_whitespace() => {
                is_start = false;
                return Some(at);
            }
            _ => {}
        }
        None
    })
}

/// Reads parameters such as `name=value, name="quoted \"value\"", …`.
fn parameters(text: &str) -> impl Iterator<Item = (&str, String)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| c == ',' || c.is_whitespace());
        let (name, after) = rest.split_once('=')?;
        let after = after.trim_start();
        let Some(quoted) = after.strip_prefix('"') else {
            let end = after.find(',').unwrap_or(after.len());
            rest = &after[end..];
            return Some((name.trim(), after[..end].trim().to_owned()));
        };
        let (mut value, mut escaped) = (String::new(), false);
        let mut end = quoted.len();
        for (at, c) in quoted.char_indices() {
            match c {
                _ if escaped => (value, escaped) = (value + c.encode_utf8(&mut [0; 4]), false),
                '\\' => escaped = true,
                '"' => {
                    end = at + 1;
                    break;
                }
                c => value.push(c),
            }
        }
        rest = &quoted[end..];
        Some((name.trim(), value))
    })
}
