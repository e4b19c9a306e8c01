/**
 * Where this server answers otherwise than upstream, and why. A row excuses the differences that it matches and no others; the test fails when a row
 * matches none, so a departure that ends leaves this table.
 */

export interface Departure {
  /** ids of steps */
  where: RegExp;
  /** places in the answer, as in `Difference` */
  at: RegExp;
  why: string;
}

/** A whole answer of another kind. */
const ANYTHING = /./;
const MESSAGE = /^body\.(?:message|details)/;

export const departures: readonly Departure[] = [
  // What docs/compatibility.md says.
  { where: /: pods\/|taken \(1[34]\)$/, at: ANYTHING, why: "subresources that are not served are named in their 404" },
  {
    where: /nodePort (?:outside|65536|negative) \(1\)$|nodePort: (?:70000|negative) \(1\)$/,
    at: ANYTHING,
    why: "a dry run judges the range of node ports",
  },
  { where: /ipaddresses/, at: /rows\.\d+\.cells\.2$/, why: "rows of IPAddresses have no third, undeclared cell" },
  { where: /^discovery: /, at: /^body\.(?:message|details)$/, why: "discovery has no protobuf form, and names the forms that there are" },
  { where: /^contents: quota /, at: ANYTHING, why: "quotas count what is there, not what a client writes into their status" },
  { where: /^others: TokenReview/, at: /^body\.status\.error$/, why: "a server without credentials says that it knows no tokens" },
  { where: /^others: may I \(1\)$/, at: /^body\.status\.reason$/, why: "a server without access control says why everything is allowed" },
  // Upstream's other admission plugins and controllers.
  {
    where: /pods|^others: (?:binding|eviction)/,
    at: /\.spec\.(?:priority|preemptionPolicy)$/,
    why: "there are no PriorityClasses, so no priority is computed",
  },
  { where: /nodes/, at: /\.spec\.taints(?:\.\d+)?$/, why: "a new Node has no taint before the node controller looks at it" },
  // Of Pods those rules are checked that a Service network relies on.
  {
    where: /^members-pods: spec\.(?:volumes|securityContext|containers\.0\.env)/,
    at: ANYTHING,
    why: "contents of volumes, environment and security contexts are the kubelet's to judge",
  },
  // Forms of answers that no client reads.
  {
    where: /(?:POST|PUT|PATCH|DELETE) \/(?:apis|healthz|livez|readyz)/,
    at: ANYTHING,
    why: "upstream answers any method on discovery and health, this server GET and HEAD",
  },
  {
    where: /aggregated/,
    at: /responseKind\.(?:group|version)$/,
    why: "discovery names group and version of each kind, also where they are those of the resource",
  },
  { where: /^discovery: \/api\/v1\/? \(1\)$/, at: /^body\.apiVersion$/, why: "upstream's list of core resources alone has no apiVersion" },
  { where: /^nowhere: /, at: ANYTHING, why: "paths that lead nowhere have the 404 of their surroundings" },
  { where: /: lists \(53\)$/, at: ANYTHING, why: "an Accept of application/* is JSON; upstream refuses it" },
  { where: /: lists \(65\)$/, at: ANYTHING, why: "continue is ignored by a watch; upstream complains of resourceVersionMatch" },
  { where: /: lists \(58\)$/, at: /initial-events-list-blueprint$/, why: "the bookmark of a watch of metadata has the blueprint, too" },
  { where: /: lists \(46\)$/, at: /^headers\.warning$/, why: "a 406 warns of a deprecated kind" },
  { where: /: patches \(4[567]\)$/, at: /^headers\.warning$/, why: "a 415 warns of a deprecated version" },
  {
    where: /^verbs-servicecidrs.*: updates \(9\)$/,
    at: ANYTHING,
    why: "a range is made ready by a write of its own, so its revision is another",
  },
  // 500 where the request is at fault.
  { where: /: patches \(24\)$/, at: ANYTHING, why: "an unknown directive of a strategic merge patch is 400, not 500" },
  { where: /: subresources and methods \((?:25|26)\)$/, at: ANYTHING, why: "a get at a resourceVersion that is none is 400, not 500" },
  { where: /: lists \(62\)$/, at: ANYTHING, why: "a watch from a resourceVersion that is none is 422, not 500" },
  {
    where: /^services-patches: another node port \(9\)$/,
    at: ANYTHING,
    why: "a strategic merge that makes a node port twice is Invalid, not 500",
  },
  { where: /: resourceVersion/, at: ANYTHING, why: "a dry run of a create with a resourceVersion fails as the create does" },
  // Order and number of errors of one object.
  {
    where: /^services-tried: (?:many mistakes|nodePort twice)|^members-services: spec\.ports: twice/,
    at: MESSAGE,
    why: "a Service is judged before it takes addresses, so all its errors are named",
  },
  { where: /new-events: name /, at: MESSAGE, why: "a wrong name of an Event is reported by all rules for names" },
  { where: /^others: may I, with a name/, at: MESSAGE, why: "a review is not tracked, so its metadata has no managedFields" },
  // Words.
  { where: /: apply \(16\)$|: broken YAML/, at: MESSAGE, why: "errors of YAML are those of another parser" },
  { where: /: lists \(14\)$/, at: MESSAGE, why: "a token that is no base64 has no number of a byte" },
  { where: /: patches \(29\)$/, at: MESSAGE, why: "a strategic merge patch of another type is reported by the decoder" },
  {
    where: /apiVersion of another|^others: (?:tokens \(11\)|eviction \(6\))$/,
    at: MESSAGE,
    why: "another version is reported as such, also where it has no such kind",
  },
  {
    where: /targetPort(?: true|: .*) \(1\)$/,
    at: MESSAGE,
    why: "a port that is neither number nor text is reported by the type that takes both",
  },
  { where: /^others: binding \(9\)$/, at: MESSAGE, why: "the uid of a Binding is a precondition like any other" },
  // Revisions of objects that end.
  {
    where: /: deletes \(26\)$|^others: namespaces that end \(13\)$/,
    at: /resourceVersion$/,
    why: "the last write of an object that goes has a revision",
  },
  {
    where: /^verbs-pods: (?:create|deletes|subresources)|^others: (?:binding|eviction)/,
    at: /\.metadata\.(?:generation|deletion\w+)$/,
    why: "a Pod that goes at once is answered as it was",
  },
  // Server-side apply.
  {
    where: /^verbs-endpointslices: apply/,
    at: /\.endpoints|f:endpoints|^body\.(?:message|details)/,
    why: "equal endpoints are no conflict; upstream compares them with the conditions that it prints",
  },
];
