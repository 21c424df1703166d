package dev.kagzi.torture;

import dev.kagzi.torture.Findings.Violation;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Checks what a torture test has left behind. Every rule follows from the guarantees of the engine
 * alone, independent of clocks: claims of a run are ordered by their epochs, and every later claim
 * receives what an earlier one has recorded.
 */
final class Checker {
  static final String ONE_RUN_PER_START = "one run per start";

  /** A rule for single runs; it reports each violation. */
  private record Rule(String name, BiConsumer<RunStory, Consumer<String>> law) {}

  private static final List<Rule> RULES =
      List.of(
          new Rule("every start ends", EndRules::everyStartEnds),
          new Rule("the end matches the scenario", EndRules::endMatchesScenario),
          new Rule("nothing is recorded after the end", EndRules::nothingAfterEnd),
          new Rule("the output is what the code returned", EndRules::outputIsReturned),
          new Rule("one result per step", StepRules::oneResultPerStep),
          new Rule("recorded results were executed", StepRules::recordedWasExecuted),
          new Rule("a lost claim writes nothing", StepRules::noWriteOfLostClaim),
          new Rule("one execution per claim", ReplayRules::oneExecutionPerClaim),
          new Rule("no step is repeated after its result", ReplayRules::noStepRepeated),
          new Rule("durable before the next step", ReplayRules::durableBeforeNext),
          new Rule("replays see what is recorded", ReplayRules::replaysSeeRecorded),
          new Rule("a caught failure is recorded", ReplayRules::caughtIsRecorded),
          new Rule("compensation follows its failure", ReplayRules::compensationFollows),
          new Rule("each due undo is recorded once", SagaRules::dueUndosAreRecorded),
          new Rule("only registered undos run", SagaRules::onlyRegisteredUndosAreExecuted),
          new Rule("undos are in reverse order", SagaRules::undosAreInReverseOrder),
          new Rule("no sleep is short", SleepRules::noSleepIsShort),
          new Rule("no step times out early", TimeRules::noStepTimesOutEarly),
          new Rule("late results do not count", TimeRules::lateResultsDoNotCount),
          new Rule("no run times out early", TimeRules::noRunTimesOutEarly),
          new Rule("a run is retried for a reason", RunAttemptRules::attemptsHaveReasons),
          new Rule("completed steps are kept", RunAttemptRules::completedIsKept),
          new Rule("a compensated run is not retried", RunAttemptRules::compensatedIsNotRetried),
          new Rule("the client received the recorded result", ClientRules::resultsAreRecorded),
          new Rule("a resumed run continues", ClientRules::resumedContinues),
          new Rule("one start creates a run", ClientRules::startedOnce),
          new Rule("cancelled is cancelled", ClientRules::cancelledIsCancelled),
          new Rule("terminated is terminated", ClientRules::terminatedIsTerminated),
          new Rule("losers of a race do not run again", FamilyRules::losersDoNotRunAgain),
          new Rule("a cancelled run has cleaned up", CleanUpRules::cleansUpBeforeItsEnd),
          new Rule("only undos run after a cancel", CleanUpRules::onlyUndosRunAfterwards),
          new Rule("a signal is stored once", SignalRules::storedOnce),
          new Rule("a step receives one signal", SignalRules::receivedBySteps),
          new Rule("signals are received in order", SignalRules::receivedInOrder),
          new Rule("the last published value is stored", PublishedRules::lastIsStored),
          new Rule("a published value never goes back", PublishedRules::neverGoesBack),
          new Rule("a callback is answered once", CallbackRules::answeredOnce),
          new Rule("every wait receives the answer", CallbackRules::receivedAsStored),
          new Rule("a run keeps its version", FamilyRules::runsKeepTheirVersion));

  private Checker() {}

  static List<Violation> check(Evidence evidence) {
    Findings findings = new Findings();
    Map<String, String> runsByInput = new HashMap<>();
    List<Rule> rules = Stream.concat(RULES.stream(), handling(evidence).stream()).toList();
    for (RunStory story : evidence.stories()) {
      checkUnique(story, runsByInput, findings);
      for (Rule rule : rules) {
        rule.law.accept(story, text -> findings.add(rule.name, story.runId(), text));
      }
    }
    return findings.violations();
  }

  /** Rules that compare several runs. */
  private static List<Rule> handling(Evidence evidence) {
    HandlerRules handlers = HandlerRules.of(evidence.stories());
    FamilyRules family = FamilyRules.of(evidence.stories());
    ChainRules chains = ChainRules.of(evidence.stories());
    return List.of(
        new Rule("a chain has no gap and no fork", chains::chainsAreWhole),
        new Rule("a successor has the reported input", chains::inputsAreReported),
        new Rule("signals move along", ChainRules::signalsMoveAlong),
        new Rule("each child is a step", family::eachChildIsAStep),
        new Rule("parents record the result of the child", family::parentsRecordChildResults),
        new Rule("children end with their parents", family::childrenEndWithTheirParents),
        new Rule("each failure is handled once", handlers::oneHandlerPerFailure),
        new Rule("a handler matches its failure", handlers::handlersMatchFailures));
  }

  private static void checkUnique(
      RunStory story, Map<String, String> runsByInput, Findings findings) {
    RunRecord run = story.run();
    if (run == null) {
      return;
    }
    String other = runsByInput.putIfAbsent(run.input(), run.runId());
    if (other != null) {
      findings.add(
          ONE_RUN_PER_START, run.runId(), "started as " + other + " before, by the same start");
    }
  }
}
