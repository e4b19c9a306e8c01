/** Which node a user is. Source: upstream pkg/auth/nodeidentifier. */
import { AGENT_PREFIX, AGENTS, NODE_PREFIX, NODES, type User } from "../identity/user";

/** The node of `system:node:NAME` in the group system:nodes, "" without a name; undefined = the user is no node. */
export function nodeOf(user: User): string | undefined {
  return named(user, NODE_PREFIX, NODES);
}

/** The same of an agent, `servicenet:agent:NAME` in the group servicenet:agents. */
export function agentNodeOf(user: User): string | undefined {
  return named(user, AGENT_PREFIX, AGENTS);
}

/** What is said of a user in the group of nodes or agents whose name has no node. */
export function unknownNode(userName: string): string {
  return `could not determine node from user "${userName}"`;
}

function named({ name, groups }: User, prefix: string, group: string): string | undefined {
  return name.startsWith(prefix) && groups.includes(group) ? name.slice(prefix.length) : undefined;
}
