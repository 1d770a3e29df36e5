// The static token file: token,user,uid,"group1,group2" a line. Here: reading the text. Source: kube-apiserver --token-auth-file.
import type { UserInfo } from "../../api/meta/transport.ts";

/** Fields of one CSV line; quotes may hold commas, doubled quotes stand for one. */
function csvFields(line: string): readonly string[] {
  const fields: string[] = [];
  const pattern = /\s*(?:"((?:[^"]|"")*)"|([^,]*))\s*(,|$)/gy;
  for (;;) {
    const match = pattern.exec(line);
    if (!match) throw new Error(`cannot read ${JSON.stringify(line)}: expected token,user,uid,"group1,group2"`);
    fields.push(match[1] === undefined ? (match[2] ?? "").trim() : match[1].replaceAll('""', '"'));
    if (match[3] === "") return fields;
  }
}

/** Users by token. Throws Error that names the line. */
export function parseTokenFile(text: string): ReadonlyMap<string, UserInfo> {
  const users = new Map<string, UserInfo>();
  text.split(/\r?\n/).forEach((line, i) => {
    if (line.trim() === "" || line.trimStart().startsWith("#")) return;
    const [token = "", username = "", uid = "", groups = ""] = csvFields(line);
    if (token === "" || username === "") throw new Error(`line ${i + 1} of the token file needs at least token,user,uid`);
    const named = groups
      .split(",")
      .map((group) => group.trim())
      .filter((group) => group !== "");
    users.set(token, { username, ...(uid === "" ? {} : { uid }), groups: [...named, "system:authenticated"] });
  });
  return users;
}
