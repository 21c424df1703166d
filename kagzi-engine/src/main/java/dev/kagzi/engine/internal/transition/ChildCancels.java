package dev.kagzi.engine.internal.transition;

import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.message.Messages;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The cancels that a batch posts to children. */
final class ChildCancels {
  private final Set<Messages.ToChildren> all = new LinkedHashSet<>();

  /** Cancels all children of a run; terminates them if there is a failure. */
  void ofRun(RunId run, @Nullable Failure why) {
    all.removeIf(each -> each.parent().equals(run));
    all.add(new Messages.ToChildren(run, "", "", why));
  }

  /**
   * Cancels the children of code that has learnt of a cancel of its run. Other branches may already
   * clean up: their children stay.
   *
   * @param scope the branch, such as {@code pack[2]/}; empty: the main code, with all branches
   * @param stepKey the step at which the code learnt it; its child is cancelled in any scope
   */
  void ofScope(RunId run, String scope, String stepKey) {
    all.add(new Messages.ToChildren(run, scope, stepKey, null));
  }

  /** Posts the cancels. Returns the receivers. */
  List<RunId> post(Session tx) throws SQLException {
    return all.isEmpty() ? List.of() : Messages.postToChildren(tx, List.copyOf(all));
  }
}
