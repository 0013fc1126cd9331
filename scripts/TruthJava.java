import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;
import javax.lang.model.element.*;
import javax.tools.*;

/**
 * Prints the targets of a folder's calls according to javac, as JSON lines for scripts/truth-calls.ts.
 *
 *   java scripts/TruthJava.java PATH > calls.jsonl
 *
 * A line is {"path", "line", "name", "to": [{"path", "line", "name"}]}. "to" is empty for a call of something outside the
 * folder. A call that javac cannot resolve, mostly because a library is missing, has no line.
 */
public class TruthJava {
  private static Path root;
  private static Trees trees;
  private static SourcePositions positions;
  private static PrintStream out;

  public static void main(String[] args) throws IOException {
    root = Path.of(args[0]).toRealPath();
    out = new PrintStream(new BufferedOutputStream(System.out, 1 << 16), false, StandardCharsets.UTF_8);
    List<Path> sources;
    try (Stream<Path> walk = Files.walk(root)) {
      sources = walk.filter(p -> p.toString().endsWith(".java") && !p.endsWith("module-info.java") && !p.endsWith("package-info.java"))
          .sorted().collect(Collectors.toList());
    }
    // If two files declare the same class, only the first can be compiled.
    Set<String> seen = new HashSet<>();
    sources.removeIf(source -> {
      String path = root.relativize(source).toString();
      int at = path.indexOf("/java/");
      return !seen.add(at < 0 ? path : path.substring(at));
    });
    analyse(sources);
    out.flush();
  }

  private static void analyse(List<Path> sources) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StandardJavaFileManager files = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
    List<String> options = List.of("-proc:none", "-XDshould-stop.ifError=FLOW", "-Xmaxerrs", "1", "-nowarn", "-implicit:none");
    JavacTask task = (JavacTask) compiler.getTask(new StringWriter(), files, d -> {}, options, null,
        files.getJavaFileObjectsFromPaths(sources));
    trees = Trees.instance(task);
    positions = trees.getSourcePositions();
    List<CompilationUnitTree> units = new ArrayList<>();
    for (CompilationUnitTree unit : task.parse()) units.add(unit);
    task.analyze();
    for (CompilationUnitTree unit : units) new Calls(unit).scan(unit, null);
  }

  /** Prints the calls of a file. */
  private static final class Calls extends TreePathScanner<Void, Void> {
    private final CompilationUnitTree unit;

    Calls(CompilationUnitTree unit) {
      this.unit = unit;
    }

    @Override
    public Void visitMethodInvocation(MethodInvocationTree call, Void nothing) {
      Tree named = call.getMethodSelect();
      String name = named instanceof MemberSelectTree
          ? ((MemberSelectTree) named).getIdentifier().toString()
          : ((IdentifierTree) named).getName().toString();
      print(positions.getEndPosition(unit, named) - 1, name, trees.getElement(new TreePath(getCurrentPath(), named)));
      return super.visitMethodInvocation(call, nothing);
    }

    @Override
    public Void visitNewClass(NewClassTree call, Void nothing) {
      Element made = trees.getElement(getCurrentPath());
      // An anonymous class counts as the class that it extends.
      if (call.getClassBody() != null) made = trees.getElement(new TreePath(getCurrentPath(), call.getIdentifier()));
      String name = made == null ? "" : (made.getKind() == ElementKind.CONSTRUCTOR ? made.getEnclosingElement() : made).getSimpleName().toString();
      print(positions.getStartPosition(unit, call), name, made);
      return super.visitNewClass(call, nothing);
    }

    private void print(long position, String name, Element target) {
      if (target == null || position < 0 || target.asType().getKind() == javax.lang.model.type.TypeKind.ERROR) return;
      String to = placeOf(target);
      long line = unit.getLineMap().getLineNumber(position);
      out.println("{\"path\":" + quote(pathOf(unit)) + ",\"line\":" + line + ",\"name\":" + quote(name) + ",\"to\":[" + to + "]}");
    }
  }

  private static String pathOf(CompilationUnitTree unit) {
    return root.relativize(Path.of(unit.getSourceFile().toUri())).toString();
  }

  /** The place where an element is declared, as JSON; "" for one outside the folder. */
  private static String placeOf(Element target) {
    TreePath path = trees.getPath(target);
    String name = target.getSimpleName().toString();
    if (target.getKind() == ElementKind.CONSTRUCTOR) {
      name = target.getEnclosingElement().getSimpleName().toString();
      // A default constructor counts as its class.
      if (path == null || positions.getStartPosition(path.getCompilationUnit(), path.getLeaf()) < 0)
        path = trees.getPath(target.getEnclosingElement());
    }
    if (path == null) return "";
    CompilationUnitTree unit = path.getCompilationUnit();
    long line = unit.getLineMap().getLineNumber(positions.getStartPosition(unit, path.getLeaf()));
    return "{\"path\":" + quote(pathOf(unit)) + ",\"line\":" + line + ",\"name\":" + quote(name) + "}";
  }

  private static String quote(String text) {
    return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
  }
}
