package dev.kagzi.sdk;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.CatchTree;
import com.sun.source.tree.ExpressionStatementTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.StatementTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreePathScanner;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every log call of the SDK has ids in its message, and attaches the exception that it is about.
 */
class LogCallsTest {
  private static final Set<String> LEVELS = Set.of("error", "warn", "info", "debug");
  private static final Pattern THROWABLE = Pattern.compile(".*(Throwable|Exception|Error)");

  @Test
  void every_event_of_the_sdk_names_its_ids_attaches_its_exception_and_is_written()
      throws IOException {
    Scan scan = scan(sources(Path.of("src", "main", "java")));

    assertThat(scan.events).as("log calls found").isGreaterThan(20);
    assertThat(scan.faults).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "void f() { log.warn(\"gone\").write(); }",
        "void f() { log.warn(\"gone\").with(\"run\", 1); }",
        "void f(Throwable t) { log.warn(\"gone\").with(\"run\", 1).write(); }",
        "void f() { try { g(); } catch (A | BException e) { log.error(\"x\").with(\"r\", 1).write(); } }",
        "void f() { log.warn(\"gone\").with(\"run\", 1).write(); }",
        "void f(Exception e) { var v = log.error(\"x\").with(\"r\", 1); v.write(); }",
      })
  void a_call_that_breaks_the_rule_is_found(String method) throws IOException {
    Scan scan = scan(List.of(new Source("class Planted { " + method + " }")));

    assertThat(scan.faults).hasSize(1);
  }

  private static List<? extends JavaFileObject> sources(Path root) throws IOException {
    try (Stream<Path> files = Files.walk(root)) {
      List<Source> sources = new ArrayList<>();
      for (Path file : files.filter(each -> each.toString().endsWith(".java")).toList()) {
        sources.add(new Source(Files.readString(file)));
      }
      return sources;
    }
  }

  private static Scan scan(List<? extends JavaFileObject> sources) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    JavacTask task =
        (JavacTask) compiler.getTask(null, null, null, List.of("-proc:none"), null, sources);
    Scan scan = new Scan();
    scan.scan(task.parse(), null);
    return scan;
  }

  private static final class Source extends SimpleJavaFileObject {
    private final String text;

    Source(String text) {
      super(URI.create("string:///Source.java"), Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }

  private static final class Scan extends TreePathScanner<@Nullable Void, @Nullable Void> {
    final List<String> faults = new ArrayList<>();
    int events;

    @Override
    public @Nullable Void visitMethodInvocation(MethodInvocationTree call, @Nullable Void unused) {
      if (call.getMethodSelect() instanceof MemberSelectTree select
          && select.getExpression().toString().equals("log")
          && LEVELS.contains(select.getIdentifier().toString())) {
        events++;
        check(call);
      }
      return super.visitMethodInvocation(call, null);
    }

    private void check(MethodInvocationTree call) {
      Tree statement = enclosing(StatementTree.class);
      Tree method = enclosing(MethodTree.class);
      String text = statement.toString();
      boolean written = text.endsWith(".write();");
      // An event that is passed on is completed elsewhere in its method, or by its receiver.
      boolean dropped =
          statement instanceof ExpressionStatementTree
              && !written
              && chainBeginsWith(text, call.getMethodSelect().toString());
      String whole = written || dropped ? text : method.toString();
      boolean receives = !written && !(statement instanceof VariableTree) && !dropped;
      if (dropped) {
        faults.add("not written: " + text);
      } else if (!receives && !whole.contains(".with(\"") && !whole.contains(".about(")) {
        faults.add("without ids: " + text);
      } else if (isThrowableInScope() && !whole.contains(".cause(")) {
        faults.add("without its exception: " + text);
      } else if (whole.contains(".with(\"run\"")) {
        faults.add("a run without its queue, worker and trace, use about(..): " + text);
      }
    }

    private static boolean chainBeginsWith(String statement, String select) {
      return statement.startsWith(select) || statement.startsWith("(");
    }

    private Tree enclosing(Class<? extends Tree> kind) {
      TreePath path = getCurrentPath();
      while (!kind.isInstance(path.getLeaf())) {
        path = path.getParentPath();
      }
      return path.getLeaf();
    }

    private boolean isThrowableInScope() {
      for (Tree each : getCurrentPath()) {
        if (each instanceof CatchTree) {
          return true;
        }
        if (each instanceof MethodTree method) {
          return method.getParameters().stream()
              .anyMatch(it -> THROWABLE.matcher(it.getType().toString()).matches());
        }
      }
      return false;
    }
  }
}
