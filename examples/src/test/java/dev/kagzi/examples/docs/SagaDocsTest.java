package dev.kagzi.examples.docs;

import static dev.kagzi.testkit.KagziAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.sdk.CompensationFailedException;
import dev.kagzi.sdk.Failure;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.Saga;
import dev.kagzi.sdk.WorkFailedException;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.testkit.KagziEnv;
import dev.kagzi.testkit.KagziExtension;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The code of docs/sagas.md. */
@ExtendWith(KagziExtension.class)
class SagaDocsTest {
  record Trip(String city, List<String> extras) {}

  static final List<String> CALLS = new CopyOnWriteArrayList<>();
  static volatile String refused = "";

  /** A service that records its calls and refuses one booking. */
  record Service(String name) {
    String book(Object what) {
      if (refused.equals(name) || refused.equals(what)) {
        throw new NonRetryableException("no " + refused);
      }
      CALLS.add("book " + name);
      return name;
    }

    void cancel(Object booking) {
      if (refused.equals("cancel " + name)) {
        throw new NonRetryableException(name + " cannot be cancelled");
      }
      CALLS.add("cancel " + name);
    }

    void open(String runId, Map<String, Failure> failures) {
      CALLS.add(name + " " + failures.keySet());
    }
  }

  static final Service flights = new Service("flight");
  static final Service hotels = new Service("hotel");
  static final Service extras = new Service("extra");
  static final Service cards = new Service("card");
  static final Service support = new Service("support");

  static final WorkflowType<Trip, String> BOOK_TRIP =
      WorkflowType.of("book-trip", Trip.class, String.class).queue("trips");
  static final WorkflowType<Trip, String> BOOK_HOTEL =
      WorkflowType.of("book-hotel", Trip.class, String.class).queue("trips");
  static final WorkflowType<String, String> CANCEL_HOTEL =
      WorkflowType.of("cancel-hotel", String.class, String.class).queue("trips");

  // docs: sagas.md
  static String bookTrip(WorkflowContext ctx, Trip trip) {
    Saga saga = ctx.saga();
    try {
      String flight = ctx.step("book-flight", String.class, () -> flights.book(trip));
      saga.undo("cancel-flight", PATIENT, () -> flights.cancel(flight));

      String hotel = ctx.child(BOOK_HOTEL).run("book-hotel", trip); // a run of its own
      saga.undo("cancel-hotel", undo -> undo.child(CANCEL_HOTEL).run("cancel", hotel));

      List<String> booked =
          ctx.parallel(
              "extras",
              trip.extras(),
              (branch, extra) -> {
                // Before the step: this branch may be interrupted while it books.
                saga.undo("cancel-extra", PATIENT, () -> extras.cancel(extra));
                return branch.step("book", String.class, () -> extras.book(extra));
              });

      String payment = ctx.step("pay", String.class, () -> cards.book(trip));
      return "%s, %s, %s, %s".formatted(flight, hotel, booked, payment);
    } catch (WorkFailedException failed) { // a step, a child or a branch
      saga.compensate();
      throw failed; // the run ends as FAILED, with the error of what failed
    }
  }

  static final Retry PATIENT = Retry.exponential(20).max(Duration.ofMinutes(5));

  // end

  static String bookHotel(WorkflowContext ctx, Trip trip) {
    return ctx.step("book", String.class, () -> hotels.book(trip));
  }

  static String cancelHotel(WorkflowContext ctx, String hotel) {
    ctx.step("cancel", () -> hotels.cancel(hotel));
    return "cancelled";
  }

  @BeforeEach
  void reset() {
    refused = "";
    CALLS.clear();
  }

  private static RunHandle<String> start(KagziEnv env) {
    env.worker()
        .workflow(BOOK_TRIP, SagaDocsTest::bookTrip)
        .workflow(BOOK_HOTEL, SagaDocsTest::bookHotel)
        .workflow(CANCEL_HOTEL, SagaDocsTest::cancelHotel)
        .start();
    RunHandle<String> run =
        env.kagzi().workflow(BOOK_TRIP).retries(3).start(new Trip("Oslo", List.of("museum")));
    env.advance(Duration.ofHours(1));
    return run;
  }

  @ParameterizedTest
  @CsvSource({
    "card, step, 'book flight,book hotel,book extra,cancel extra,cancel hotel,cancel flight'",
    "hotel, child, 'book flight,cancel flight'",
    "museum, branch, 'book flight,book hotel,cancel extra,cancel hotel,cancel flight'"
  })
  void a_saga_compensates_when_a_step_a_child_or_a_branch_fails(
      String failing, String what, String calls, KagziEnv env) {
    refused = failing;

    RunHandle<String> run = start(env);

    assertThat(run).failedWithMessage("no " + failing);
    assertThat(CALLS).as(what).containsExactly(calls.split(","));
  }

  @Test
  void a_saga_without_failures_books_everything(KagziEnv env) {
    assertThat(start(env)).completedWith("flight, hotel, [extra], card");
  }

  static void compensate(WorkflowContext ctx, Saga saga) {
    // docs: sagas.md
    try {
      saga.compensate();
    } catch (CompensationFailedException stuck) {
      // The failures by the names of their undos.
      ctx.cleanup("open-ticket", () -> support.open(ctx.runId(), stuck.failures()));
      throw stuck;
    }
    // end
  }

  @Test
  void a_step_receives_the_undos_that_failed(KagziEnv env) {
    refused = "cancel extra";
    env.worker()
        .workflow(
            CANCEL_HOTEL,
            (ctx, item) -> {
              Saga saga = ctx.saga();
              saga.undo("cancel-flight", () -> flights.cancel(item));
              saga.undo("cancel-extra", () -> extras.cancel(item));
              compensate(ctx, saga);
              return "";
            })
        .start();

    RunHandle<String> run = env.kagzi().workflow(CANCEL_HOTEL).start("lamp");

    assertThat(run).failedWith(CompensationFailedException.class);
    assertThat(CALLS).containsExactly("cancel flight", "support [cancel-extra]");
  }
}
