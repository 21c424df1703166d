package dev.kagzi.torture;

import dev.kagzi.sdk.Retry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * What the torture runs. A new scenario needs a line in {@link #ALL} and its code below; the
 * checker knows none of them by name.
 */
final class Scenarios {
  private static final Retry SOON = Retry.fixed(10, Duration.ofMillis(150));
  private static final Retry LATER = Retry.fixed(10, Duration.ofMillis(1_400));
  private static final Retry BRIEF = Retry.fixed(2, Duration.ofMillis(80));

  /** The even load under which recovery is measured. */
  static final Scenario STEADY = Scenario.completing("steady", Scenarios::steady);

  static final List<Scenario> ALL =
      List.of(
          STEADY,
          Scenario.completing("steps", Scenarios::steps),
          Scenario.completing("short-retry", script -> retry(script, SOON)),
          Scenario.completing("long-retry", script -> retry(script, LATER)),
          Scenario.completing("short-sleep", script -> sleep(script, 50, 800)),
          Scenario.completing("long-sleep", script -> sleep(script, 1_100, 2_500)),
          Scenario.completing("compensation", Scenarios::compensation),
          Scenario.failing("failure", Scenarios::failure),
          Scenario.completing("cancel", Scenarios::journey).cancelledWithin(Duration.ofSeconds(5)));

  static final Map<String, Scenario> BY_NAME =
      ALL.stream().collect(Collectors.toUnmodifiableMap(Scenario::name, Function.identity()));

  private Scenarios() {}

  private static void steady(Script script) {
    for (int i = 1; i <= 3; i++) {
      script.quickStep("quick-" + i);
    }
  }

  private static void steps(Script script) {
    int count = 2 + script.choices("count").nextInt(5);
    for (int i = 1; i <= count; i++) {
      script.step("step-" + i);
    }
  }

  private static void retry(Script script, Retry retry) {
    script.step("before");
    script.step("flaky", retry, 1 + script.choices("failures").nextInt(3));
    script.step("after");
  }

  private static void sleep(Script script, int millisMin, int millisMax) {
    Random random = script.choices("sleep");
    script.step("before");
    script.sleep("sleep-1", Duration.ofMillis(random.nextInt(millisMin, millisMax)));
    script.step("between");
    script.sleep("sleep-2", Duration.ofMillis(random.nextInt(millisMin, millisMax)));
    script.step("after");
  }

  private static void compensation(Script script) {
    script.step("reserve");
    script.step("pack");
    script.caughtStep("charge", script.choices("retry").nextBoolean() ? BRIEF : Retry.none());
    script.step("unpack");
    script.sleep("cool-off", Duration.ofMillis(script.choices("cool-off").nextInt(100, 1_600)));
    script.step("release");
  }

  private static void failure(Script script) {
    script.step("before");
    script.doomedStep("doomed", BRIEF);
  }

  private static void journey(Script script) {
    for (int i = 1; i <= 6; i++) {
      script.step("walk-" + i);
      script.sleep("rest-" + i, Duration.ofMillis(script.choices("rest-" + i).nextInt(50, 1_500)));
    }
  }
}
