/** The path and query of a request as a log may have them: no token that somebody put into the URL. */
const URI_MAX_CHARS = 2_048;
const REDACTED = "REDACTED";
/** names of query members that carry credentials, in lower case */
const SECRET = /(token|secret|password|authorization|credential|api[-_]?key|signature|assertion|^code$|^jwt$|^sig$)/;
/** what looks like a signed token or one of this server's own, wherever it stands */
const SIGNED = /eyJ[A-Za-z0-9_-]{4,}(\.[A-Za-z0-9_-]*){0,2}|sn_[0-9a-f]{20}_[A-Za-z0-9_-]+/g;

/** `uri` as it arrived, from its first slash on. */
export function redactedUri(uri: string): string {
  const mark = uri.indexOf("?");
  const path = (mark < 0 ? uri : uri.slice(0, mark)).replace(SIGNED, REDACTED);
  const query =
    mark < 0
      ? ""
      : `?${uri
          .slice(mark + 1)
          .split("&")
          .map(redactedMember)
          .join("&")}`;
  const whole = path + query;
  return whole.length > URI_MAX_CHARS ? `${whole.slice(0, URI_MAX_CHARS)}…` : whole;
}

function redactedMember(member: string): string {
  const equals = member.indexOf("=");
  if (equals < 0) return SECRET.test(plain(member)) ? REDACTED : member.replace(SIGNED, REDACTED);
  const [name, value] = [member.slice(0, equals), member.slice(equals + 1)];
  return SECRET.test(plain(name)) ? `${name}=${REDACTED}` : `${name}=${value.replace(SIGNED, REDACTED)}`;
}

/** A name may be percent-encoded, and readers of queries decode it. */
function plain(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll("+", " ")).trim().toLowerCase();
  } catch {
    return "token";
  }
}
