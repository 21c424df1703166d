package dev.kagzi.examples;

import dev.kagzi.sdk.ChildHandle;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.WorkFailedException;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.util.ArrayList;
import java.util.List;

/** Imports a file with one child workflow per part. A part that fails does not fail the import. */
final class ChildExample implements Example {
  static final WorkflowType<Integer, Integer> IMPORT_PART =
      WorkflowType.of("import-part", Integer.class, Integer.class).queue("imports");

  static final WorkflowType<Integer, String> IMPORT_FILE =
      WorkflowType.of("import-file", Integer.class, String.class).queue("imports");

  static Integer importPart(WorkflowContext ctx, Integer part) {
    return ctx.step(
        "import",
        Integer.class,
        () -> {
          if (part == 3) {
            throw new NonRetryableException("part 3 is corrupt");
          }
          return 100 * part;
        });
  }

  static String importFile(WorkflowContext ctx, Integer parts) {
    List<ChildHandle<Integer>> children = new ArrayList<>();
    for (int part = 1; part <= parts; part++) {
      children.add(ctx.child(IMPORT_PART).start("part", part));
    }
    int rows = 0;
    List<String> errors = new ArrayList<>();
    for (ChildHandle<Integer> child : children) {
      try {
        rows += child.result();
      } catch (WorkFailedException e) {
        errors.add(e.failure().message());
      }
    }
    return rows + " rows, " + String.join(", ", errors);
  }

  @Override
  public String about() {
    return "a file is imported by one child per part, and one child fails";
  }

  @Override
  @SuppressWarnings("try") // close() stops the worker
  public String run(Kagzi kagzi) {
    try (Worker worker =
        kagzi
            .worker()
            .workflow(IMPORT_FILE, ChildExample::importFile)
            .workflow(IMPORT_PART, ChildExample::importPart)
            .start()) {
      return kagzi.workflow(IMPORT_FILE).start(4).result();
    }
  }
}
