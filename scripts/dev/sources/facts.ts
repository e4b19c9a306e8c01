/** What the checks need to know of one source file. It follows from the text alone, so that it can be kept beside a hash of the text. */
import ts from "typescript";

export interface Exported {
  name: string;
  /** 1-based */
  line: number;
  /** Types apart, because a type may be exported for the sake of a signature. */
  isType: boolean;
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
  /** First arguments of `upstreamRow(…)`; null for one that is no plain text. */
  upstreamRows: (string | null)[];
}

export function factsIn(path: string, text: string): Facts {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ES2024, true);
  const facts: Facts = { exports: exportsOf(file), imports: [], upstreamRows: [] };
  const visit = (node: ts.Node): void => {
    const imported = importedBy(node);
    if (imported) facts.imports.push(imported);
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
