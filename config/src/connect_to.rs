//! `--connect-to HOST1:PORT1:HOST2:PORT2`, as in curl: a request for HOST1:PORT1 connects to HOST2:PORT2. URL, Host
//! header and TLS name stay as they are. An empty field means any host or port (on the left) or an unchanged one (on
//! the right).

use std::str::FromStr;

use url::{Host, Url};

/// One rule `HOST1:PORT1:HOST2:PORT2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectTo {
    from_host: Option<Host>,
    from_port: Option<u16>,
    to_host: Option<Host>,
    to_port: Option<u16>,
}

/// The place to which the connection for a URL goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The host to be resolved.
    pub host: Host,
    /// The port to connect to.
    pub port: u16,
    /// Whether a rule changed the host or the port.
    pub redirected: bool,
}

impl Target {
    /// The target of the connection for `url` by the first of `rules` that matches; `None` for a URL without host or
    /// port.
    pub fn of(url: &Url, rules: &[ConnectTo]) -> Option<Self> {
        let host = url.host()?.to_owned();
        let port = url.port_or_known_default()?;
        let rule = rules.iter().find(|rule| {
            rule.from_host.as_ref().is_none_or(|from| *from == host) && rule.from_port.is_none_or(|from| from == port)
        });
        let target = rule.map(|rule| (rule.to_host.clone().unwrap_or(host.clone()), rule.to_port.unwrap_or(port)));
        let (to_host, to_port) = target.unwrap_or((host.clone(), port));
        let redirected = to_host != host || to_port != port;
        Some(Self { host: to_host, port: to_port, redirected })
    }
}

impl FromStr for ConnectTo {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| format!("{text:?}: {why}; write HOST1:PORT1:HOST2:PORT2");
        let mut fields = Vec::new();
        let mut rest = text;
        loop {
            let bracket =
                if rest.starts_with('[') { rest.find(']').ok_or_else(|| wrong("'[' without ']'"))? } else { 0 };
            match rest[bracket..].find(':') {
                Some(colon) => {
                    fields.push(&rest[..bracket + colon]);
                    rest = &rest[bracket + colon + 1..];
                }
                None => {
                    fields.push(rest);
                    break;
                }
            }
        }
        let [from_host, from_port, to_host, to_port] = fields[..] else {
            let number = fields.len();
            return Err(wrong(&format!("{number} field{} instead of 4", if number == 1 { "" } else { "s" })));
        };
        let host = |field: &str| match field {
            "" => Ok(None),
            _ => Host::parse(field).map(Some).map_err(|error| wrong(&format!("{field:?}: {error}"))),
        };
        let port = |field: &str| match field {
            "" => Ok(None),
            _ => field.parse().map(Some).map_err(|_| wrong(&format!("{field:?} is no port"))),
        };
        Ok(Self {
            from_host: host(from_host)?,
            from_port: port(from_port)?,
            to_host: host(to_host)?,
            to_port: port(to_port)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn go(url: &str, rules: &[&str]) -> String {
        let rules: Vec<ConnectTo> = rules.iter().map(|rule| rule.parse().expect("a rule")).collect();
        let target = Target::of(&url.parse().expect("a URL"), &rules).expect("a target");
        format!("{}:{} {}", target.host, target.port, target.redirected)
    }

    #[test]
    fn first_matching_rule_decides() {
        let rules = ["a.test:80:127.0.0.1:8080", "a.test::[::1]:", ":443::8443", "b.test:::"];
        assert_eq!(go("http://a.test/", &rules), "127.0.0.1:8080 true");
        assert_eq!(go("http://A.TEST:81/x", &rules), "[::1]:81 true");
        assert_eq!(go("https://c.test/", &rules), "c.test:8443 true");
        assert_eq!(go("https://b.test/", &rules), "b.test:8443 true");
        assert_eq!(go("http://b.test/", &rules), "b.test:80 false");
        assert_eq!(go("http://c.test/", &rules), "c.test:80 false");
    }

    #[test]
    fn everything_can_go_to_one_port() {
        for url in ["http://a.test/", "https://b.test:9/", "http://192.0.2.1:81/", "http://[2001:db8::1]/"] {
            assert_eq!(go(url, &["::127.0.0.1:4000"]), "127.0.0.1:4000 true");
        }
        assert_eq!(go("http://[2001:db8::1]/", &["[2001:db8::1]:80:x.test:7"]), "x.test:7 true");
    }

    #[test]
    fn a_bad_rule_says_why() {
        for (rule, why) in
            [("a.test:80", "2 fields"), ("a:1:b:x", "is no port"), ("[::1:1:b:2", "without"), ("a b:::", "a b")]
        {
            let error = rule.parse::<ConnectTo>().expect_err(rule);
            assert!(error.contains(why) && error.contains(rule), "{error}");
        }
    }
}
