/** What the checks need to know of one source file. It follows from the text alone, so that it can be kept beside a hash of the text. */
import ts from "typescript";

export interface Exported {
  name: string;
  /** 1-based */
  line: number;
  /** Types apart, because a type may be exported for the sake of a signature. */
  isType: boolean;
}

/** A declaration of a type or class, wherever it stands in the file. */
export interface DeclaredType {
  name: string;
  /** 1-based */
  line: number;
  isExported: boolean;
}

/** A comment without its marks; lines of `//` that follow each other are one. */
export interface Comment {
  /** 1-based */
  line: number;
  text: string;
}

export interface Imported {
  /** the text between the quotes */
  specifier: string;
  /** "*" = all */
  names: string[];
}

export interface Facts {
  exports: Exported[];
  imports: Imported[];
  types: DeclaredType[];
  comments: Comment[];
  /** First arguments of `upstreamRow(…)`; null for one that is no plain text. */
  upstreamRows: (string | null)[];
}

export function factsIn(path: string, text: string): Facts {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ES2024, true);
  const facts: Facts = { exports: exportsOf(file), imports: [], types: [], comments: commentsOf(file), upstreamRows: [] };
  const visit = (node: ts.Node): void => {
    const imported = importedBy(node);
    if (imported) facts.imports.push(imported);
    const declared = declaredBy(file, node);
    if (declared) facts.types.push(declared);
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === "upstreamRow") {
      const [name] = node.arguments;
      facts.upstreamRows.push(name && ts.isStringLiteralLike(name) ? name.text : null);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return facts;
}

function exportsOf(file: ts.SourceFile): Exported[] {
  return file.statements.flatMap((statement) => {
    if (!ts.canHaveModifiers(statement) || !ts.getModifiers(statement)?.some((m) => m.kind === ts.SyntaxKind.ExportKeyword)) return [];
    const line = file.getLineAndCharacterOfPosition(statement.getStart()).line + 1;
    const isType = ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement);
    const names = ts.isVariableStatement(statement)
      ? statement.declarationList.declarations.map((d) => d.name.getText())
      : [nameOf(statement)];
    return names.flatMap((name) => (name ? [{ name, line, isType }] : []));
  });
}

function nameOf(statement: ts.Statement): string | undefined {
  const name = (statement as ts.Statement & { name?: ts.Node }).name;
  return name?.getText();
}

function importedBy(node: ts.Node): Imported | undefined {
  if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier)) {
    return { specifier: node.moduleSpecifier.text, names: namesOf(node) };
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    const [argument] = node.arguments;
    return argument && ts.isStringLiteral(argument) ? { specifier: argument.text, names: ["*"] } : undefined;
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal)) {
    return { specifier: node.argument.literal.text, names: ["*"] };
  }
  return undefined;
}

function namesOf(node: ts.ImportDeclaration | ts.ExportDeclaration): string[] {
  const clause = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : node.exportClause;
  if (ts.isExportDeclaration(node) && !clause) return ["*"];
  if (!clause) return [];
  if (ts.isNamespaceImport(clause) || ts.isNamespaceExport(clause)) return ["*"];
  return clause.elements.map((element) => (element.propertyName ?? element.name).text);
}

/** What `declare` says of a platform's type counts, too. */
function declaredBy(file: ts.SourceFile, node: ts.Node): DeclaredType | undefined {
  const isType =
    ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isClassDeclaration(node) || ts.isEnumDeclaration(node);
  if (!isType || !node.name) return undefined;
  const line = lineAt(file, node.name.getStart(file));
  const isExported = node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false;
  return { name: node.name.text, line, isExported };
}

function commentsOf(file: ts.SourceFile): Comment[] {
  const { text } = file;
  const ends = new Map<number, number>();
  const visit = (node: ts.Node): void => {
    const ranges = [
      ...(ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.getEnd()) ?? []),
    ];
    for (const { pos, end } of ranges) ends.set(pos, end);
    for (const child of node.getChildren(file)) if (!ts.isJSDoc(child)) visit(child);
  };
  visit(file);
  const found: (Comment & { end: number })[] = [];
  for (const [pos, end] of [...ends].sort(([a], [b]) => a - b)) {
    const before = found.at(-1);
    const raw = text.slice(pos, end);
    const goesOn = before !== undefined && raw.startsWith("//") && /^\r?\n[ \t]*$/.test(text.slice(before.end, pos));
    if (goesOn) found.splice(-1, 1, { ...before, text: `${before.text}\n${withoutMarks(raw)}`, end });
    else found.push({ line: lineAt(file, pos), text: withoutMarks(raw), end });
  }
  return found.map(({ line, text: words }) => ({ line, text: words }));
}

function withoutMarks(comment: string): string {
  if (comment.startsWith("//")) return comment.replace(/^\/\/+ ?/, "");
  return comment.replace(/^\/\*+|\*+\/$/g, "").replace(/^[ \t]*\*?(?: |$)/gm, "");
}

function lineAt(file: ts.SourceFile, position: number): number {
  return file.getLineAndCharacterOfPosition(position).line + 1;
}
