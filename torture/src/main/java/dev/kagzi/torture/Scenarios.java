package dev.kagzi.torture;

import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.WorkflowFailedEvent;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.torture.Scenario.Behavior;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The scenarios of the torture test. A new scenario needs a line in {@link #ALL} and its code
 * below; the checker refers to none of them by name.
 */
final class Scenarios {
  private static final Retry SOON = Retry.fixed(10, Duration.ofMillis(150));
  private static final Retry LATER = Retry.fixed(10, Duration.ofMillis(1_400));
  private static final Retry BRIEF = Retry.fixed(2, Duration.ofMillis(80));
  private static final Retry FOR_EVER = Retry.fixed(Retry.UNLIMITED, Duration.ofMillis(600));

  private static final Duration SHORT = Duration.ofSeconds(2);

  /** Longer than any fault, so that a run has ended by then. */
  private static final Duration GENEROUS = Duration.ofMinutes(10);

  /** The even load under which recovery is measured. */
  static final Scenario STEADY = Scenario.completing("steady", Scenarios::steady);

  static final List<Scenario> ALL =
      List.of(
          STEADY,
          Scenario.withoutEffects("no-effect"),
          Scenario.completing("steps", Scenarios::steps),
          Scenario.completing("short-retry", script -> retry(script, SOON)),
          Scenario.completing("long-retry", script -> retry(script, LATER)),
          Scenario.completing("short-sleep", script -> sleep(script, 50, 800)),
          Scenario.completing("long-sleep", script -> sleep(script, 1_100, 2_500)),
          Scenario.completing("compensation", Scenarios::compensation),
          Scenario.failing("failure", Scenarios::failure),
          Scenario.completing("cancel", Scenarios::journey).client(Behavior.CANCELS),
          Scenario.completing("step-timeout", Scenarios::stepTimeout),
          Scenario.timingOut("timeout", Scenarios::endless).within(SHORT),
          Scenario.completing("ample-timeout", Scenarios::steps).within(GENEROUS),
          Scenario.completing("ample-deadline", script -> retry(script, LATER))
              .within(GENEROUS)
              .client(Behavior.SETS_DEADLINE, Behavior.HANDLES_FAILURE),
          Scenario.failing("handled-failure", Scenarios::failure).client(Behavior.HANDLES_FAILURE),
          Scenario.timingOut("handled-timeout", Scenarios::endless)
              .within(SHORT)
              .client(Behavior.HANDLES_FAILURE),
          Scenario.completing("handled-cancel", Scenarios::journey)
              .client(Behavior.CANCELS, Behavior.HANDLES_FAILURE),
          Scenario.completing("terminate", Scenarios::journey)
              .client(Behavior.TERMINATES, Behavior.HANDLES_FAILURE),
          Scenario.completing("resume", Scenarios::outage)
              .client(Behavior.RESUMES, Behavior.HANDLES_FAILURE),
          Scenario.completing("resume-timed-out", Scenarios::overtime)
              .within(SHORT)
              .client(Behavior.RESUMES),
          Scenario.completing("resume-terminated", Scenarios::journey)
              .client(Behavior.TERMINATES, Behavior.RESUMES),
          Scenario.completing("run-retry", Scenarios::fragile)
              .client(Behavior.RETRIES, Behavior.HANDLES_FAILURE),
          Scenario.failing("undone", Scenarios::undone)
              .client(Behavior.RETRIES, Behavior.HANDLES_FAILURE),
          Scenario.completing("saga", Scenarios::saga),
          Scenario.completing("start-twice", Scenarios::steps).client(Behavior.STARTS_TWICE),
          Scenario.completing("parallel", Scenarios::parallel),
          Scenario.completing("race", Scenarios::race),
          Scenario.completing("children", Scenarios::children),
          Scenario.completing("cancel-family", Scenarios::family).client(Behavior.CANCELS),
          Scenario.completing("clean-up", Scenarios::cleanUp)
              .client(Behavior.CANCELS, Behavior.CLEANS_UP),
          Scenario.completing("signals", Scenarios::signals).client(Behavior.SENDS_SIGNALS),
          Scenario.completing("signals-in-races", Scenarios::signalsInRaces)
              .client(Behavior.SENDS_SIGNALS),
          Scenario.completing("signals-in-saga", Scenarios::signalsInSaga)
              .client(Behavior.SENDS_SIGNALS),
          Scenario.completing("publishing", Scenarios::publishing).client(Behavior.WATCHES),
          Scenario.completing("publishing-attempts", Scenarios::publishingFragile)
              .client(Behavior.RETRIES),
          Scenario.completing("callbacks", Scenarios::callbacks).client(Behavior.ANSWERS_CALLBACKS),
          Scenario.completing("chain", Scenarios::chain).client(Behavior.SENDS_SIGNALS),
          Scenario.completing("cancel-chain", Scenarios::longChain).client(Behavior.CANCELS),
          Scenario.completing("clean-up-chain", Scenarios::cleanUpChain)
              .client(Behavior.CANCELS, Behavior.CLEANS_UP),
          Scenario.completing("versions", Scenarios::steps).client(Behavior.CHANGES_DEFAULT));

  static final Map<String, Scenario> BY_NAME =
      ALL.stream().collect(Collectors.toUnmodifiableMap(Scenario::name, Function.identity()));

  /** The handler of all scenarios with a failure handler. */
  static final WorkflowType<WorkflowFailedEvent, String> HANDLER =
      WorkflowType.of("handler", WorkflowFailedEvent.class, String.class).queue(Scenario.QUEUE);

  /** The type of all children. */
  static final WorkflowType<String, String> CHILD =
      WorkflowType.of("child", String.class, String.class).queue(Scenario.QUEUE);

  /** The versions, one of which is the default at any time. */
  static final List<String> VERSIONS = List.of("1", "2");

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
    script.failingStep("doomed", BRIEF);
  }

  private static void journey(Script script) {
    for (int i = 1; i <= 6; i++) {
      script.step("walk-" + i);
      script.sleep("rest-" + i, Duration.ofMillis(script.choices("rest-" + i).nextInt(50, 1_500)));
    }
  }

  private static void stepTimeout(Script script) {
    Random random = script.choices("time-out");
    script.step("before");
    script.slowStep(
        "slow",
        random.nextBoolean() ? SOON : LATER,
        Duration.ofMillis(random.nextInt(1_000, 1_500)),
        1 + random.nextInt(2));
    script.step("after");
  }

  /** Takes longer than its time-out, by a sleep, a step or endless retries. */
  private static void endless(Script script) {
    script.quickStep("before");
    switch (script.choices("endless").nextInt(3)) {
      case 0 -> script.sleep("sleep", GENEROUS);
      case 1 -> script.longStep("linger", GENEROUS, Integer.MAX_VALUE);
      default -> script.failingStep("doomed", FOR_EVER);
    }
  }

  private static void outage(Script script) {
    script.step("before");
    script.unrepairedStep("broken", script.choices("retry").nextBoolean() ? BRIEF : Retry.none());
    script.sleep("rest", Duration.ofMillis(script.choices("rest").nextInt(50, 1_500)));
    script.step("after");
  }

  /** Takes longer than its time-out, unless it is resumed. */
  private static void overtime(Script script) {
    script.quickStep("before");
    if (script.choices("overtime").nextBoolean()) {
      script.sleep("sleep", SHORT.plusMillis(700));
    } else {
      script.longStep("linger", SHORT.plusMillis(700), 1);
    }
    script.quickStep("after");
  }

  private static void fragile(Script script) {
    script.step("before");
    boolean once = script.choices("retry").nextBoolean();
    script.step("fragile", once ? Retry.none() : BRIEF, once ? 2 : 3);
    script.step("after");
  }

  private static void undone(Script script) {
    script.step("reserve");
    script.caughtStep("charge", BRIEF);
    script.step("release");
    script.failingStep("doomed", Retry.none());
  }

  /** Fails nowhere, in a step, or in one of several branches; then undoes everything. */
  private static void saga(Script script) {
    Random random = script.choices("saga");
    int failing = random.nextInt(4);
    script.saga(
        saga -> {
          saga.step("reserve");
          saga.undo("reserve", random.nextInt(2));
          saga.undo("charge", 0);
          failOrStep(saga, "charge", failing == 1);
          saga.parallel("fan", 3, (branch, i) -> undoneBranch(branch, failing == 2 && i == 1));
          saga.race("race", 2, (branch, i) -> undoneBranch(branch, false));
          failOrStep(saga, "pack", failing == 3);
          saga.undo("pack", random.nextInt(3));
        });
    script.step("after");
  }

  /** Is cancelled in a step, a sleep, a retry, branches or children; then undoes everything. */
  private static void cleanUp(Script script) {
    script.cleaningUp(
        saga -> {
          for (int i = 1; i <= 4; i++) {
            Random random = saga.choices("walk-" + i);
            saga.undo("walk-" + i, random.nextInt(2));
            saga.step("walk-" + i);
            saga.sleep("rest-" + i, Duration.ofMillis(random.nextInt(20, 1_500)));
            switch (random.nextInt(3)) {
              case 0 -> {
                saga.step("flaky-" + i, LATER, 1);
                saga.undo("flaky-" + i, 0);
              }
              case 1 -> saga.parallel("fan-" + i, 2, (branch, j) -> undoneBranch(branch, false));
              default -> {
                saga.undo("crew-" + i + "-0", 0);
                saga.children("crew-" + i, 2);
                saga.undo("crew-" + i + "-1", 0);
              }
            }
          }
        });
  }

  private static void undoneBranch(Script branch, boolean fails) {
    boolean isFirst = branch.choices("undo").nextBoolean();
    if (isFirst) {
      branch.undo("book", 0);
    }
    branch.step("book");
    if (!isFirst) {
      branch.undo("book", branch.choices("failures").nextInt(2));
    }
    branch.sleep("rest", Duration.ofMillis(branch.choices("rest").nextInt(20, 1_400)));
    failOrStep(branch, "confirm", fails);
    branch.undo("confirm", 0);
  }

  private static void failOrStep(Script script, String name, boolean fails) {
    if (fails) {
      script.failingStep(name, BRIEF);
    } else {
      script.step(name);
    }
  }

  private static void parallel(Script script) {
    script.step("before");
    script.parallel("fan", 2 + script.choices("fan").nextInt(4), Scenarios::branch);
    script.step("after");
  }

  /**
   * A branch sleeps up to 2.2 s, has a step that fails once, has inner branches, or only executes
   * steps.
   */
  private static void branch(Script script, int index) {
    Random random = script.choices("branch-" + index);
    script.step("one");
    switch (random.nextInt(4)) {
      case 0 -> script.sleep("nap", Duration.ofMillis(random.nextInt(50, 2_200)));
      case 1 -> script.step("flaky", random.nextBoolean() ? SOON : LATER, 1);
      case 2 -> script.parallel("inner", 2, (inner, i) -> inner.step("deep"));
      default -> script.step("two");
    }
    script.step("last");
  }

  private static void race(Script script) {
    script.step("before");
    script.race(
        "race",
        3,
        (branch, i) -> {
          branch.step("run");
          branch.sleep("rest", Duration.ofMillis(branch.choices("rest-" + i).nextInt(50, 1_800)));
          branch.step("arrive");
        });
    script.step("between");
    script.sleep("pause", Duration.ofMillis(script.choices("pause").nextInt(100, 1_600)));
    script.step("after");
  }

  private static void children(Script script) {
    script.step("before");
    script.children("child", 1 + script.choices("children").nextInt(4));
    script.step("after");
  }

  private static void family(Script script) {
    for (int i = 1; i <= 3; i++) {
      script.step("walk-" + i);
      script.children("child-" + i, 2);
    }
  }

  /** How many signals the client sends to a run, and the code receives. */
  static int signalCount(String input) {
    return 1 + Math.floorMod(ChainInput.of(input).start().hashCode(), 5);
  }

  /** How many callbacks the code makes, and the client answers. */
  static int callbackCount(String input) {
    return 1 + Math.floorMod(input.hashCode(), 4);
  }

  static String callbackName(int number) {
    return "callback-" + number;
  }

  /** Awaits answers that come before the wait, during it, or after its timeout. */
  private static void callbacks(Script script) {
    for (int i = 1; i <= script.callbackCount(); i++) {
      Duration before = Duration.ofMillis(script.choices("before-" + i).nextInt(1, 1_500));
      Duration timeout = Duration.ofMillis(script.choices("timeout-" + i).nextInt(100, 1_800));
      script.callback(callbackName(i), before, timeout);
      script.step("after-" + i);
    }
  }

  /** Receives with and without a timeout, which may pass before the signal comes. */
  private static void signals(Script script) {
    for (int i = 1; i <= script.signalCount(); i++) {
      if (script.choices("timeout-" + i).nextBoolean()) {
        script.receive();
      } else {
        script.receive(Duration.ofMillis(script.choices("wait-" + i).nextInt(100, 1_800)));
      }
      script.step("after-" + i);
    }
  }

  /**
   * Receives in a race with a sleep, until all signals are received. Both branches may be due at
   * once.
   */
  private static void signalsInRaces(Script script) {
    int received = 0;
    for (int i = 1; received < script.signalCount(); i++) {
      Duration patience = Duration.ofMillis(script.choices("patience-" + i).nextInt(20, 1_600));
      received += script.receiveInRace("race-" + i, patience) ? 1 : 0;
    }
    script.step("after");
  }

  /** The loser of a race receives a signal, and registers an undo behind it. */
  private static void signalsInSaga(Script script) {
    Duration patience = Duration.ofMillis(script.choices("patience").nextInt(20, 1_600));
    script.saga(
        saga ->
            saga.race(
                "race",
                2,
                (branch, i) -> {
                  if (i == 1) {
                    branch.sleep("patience", patience);
                    return;
                  }
                  branch.receiveInLoser();
                  branch.undo("book", 0);
                  branch.step("book");
                  branch.sleep("rest", GENEROUS);
                }));
    for (int i = 1; i <= script.signalCount(); i++) {
      script.receive();
    }
    script.step("after");
  }

  /** Publishes after steps, before waits, and several times without any of them. */
  private static void publishing(Script script) {
    int count = 3 + script.choices("count").nextInt(5);
    for (int i = 1; i <= count; i++) {
      script.step("work-" + i);
      script.publish();
      switch (script.choices("next-" + i).nextInt(4)) {
        case 0 ->
            script.sleep("rest-" + i, Duration.ofMillis(script.choices("rest").nextInt(1_500)));
        case 1 -> script.publish();
        default -> {}
      }
    }
  }

  /** Every attempt of the run publishes again from the beginning. */
  private static void publishingFragile(Script script) {
    script.publish();
    script.step("before");
    script.publish();
    script.step("fragile", Retry.none(), 2);
    script.publish();
    script.step("after");
  }

  /** Each run receives one signal and continues as new, until all are received. */
  private static void chain(Script script) {
    script.step("before");
    script.receive();
    int link = script.link();
    if (link < script.signalCount()) {
      script.continueAsNew();
    }
    script.step("after");
  }

  /** Continues as new again and again, with short and long waits in between. */
  private static void longChain(Script script) {
    script.step("work");
    script.sleep("rest", Duration.ofMillis(script.choices("rest").nextInt(10, 1_500)));
    if (script.link() < 6) {
      script.continueAsNew();
    }
  }

  /** Like {@link #longChain}; the run that is cancelled undoes its work. */
  private static void cleanUpChain(Script script) {
    script.cleaningUp(
        saga -> {
          saga.undo("work", 0);
          saga.step("work");
          saga.sleep("rest", Duration.ofMillis(saga.choices("rest").nextInt(10, 1_200)));
          if (saga.link() < 6) {
            saga.continueAsNew();
          }
        });
  }

  /** The code of {@link #CHILD}, which may continue as new. */
  static String child(Script script) {
    Random random = script.choices("child");
    script.step("one");
    if (random.nextBoolean()) {
      script.sleep("nap", Duration.ofMillis(random.nextInt(50, 1_800)));
    }
    script.step("two");
    if (script.link() < 3 && random.nextBoolean()) {
      script.continueAsNew();
    }
    return script.end();
  }

  /** The code of {@link #HANDLER}. */
  static String handle(Script script, WorkflowFailedEvent event) {
    script.handles(event);
    script.step("alert");
    script.sleep("pause", Duration.ofMillis(script.choices("pause").nextInt(50, 1_200)));
    script.step("dead-letter");
    return script.end();
  }
}
