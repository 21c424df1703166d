package dev.kagzi.server.web.run;

import dev.kagzi.engine.query.StepView;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A step as the pages name it.
 *
 * @param branch the parallel branches around it, such as {@code pack[2]/}; empty for none
 * @param name the name and, from the second step of this name on, its occurrence: {@code pay#2}
 */
public record StepLabel(String branch, String name) {
  private static final Pattern BRANCHES = Pattern.compile("^(?:[^/]*\\[[^\\]/]+]/)+");

  public static StepLabel of(StepView step) {
    String key = step.stepId().stepKey();
    // A simple client may call a step "a[0]/b": then the name in its code is the whole key.
    boolean isWhole = step.name().equals(key);
    Matcher branches = BRANCHES.matcher(key);
    return !isWhole && branches.find()
        ? new StepLabel(branches.group(), key.substring(branches.end()))
        : new StepLabel("", key);
  }

  /** Returns the outermost branch, which rows of the time line are grouped by. */
  String outermost() {
    int end = branch.indexOf('/');
    return end < 0 ? "" : branch.substring(0, end);
  }

  @Override
  public String toString() {
    return branch + name;
  }
}
