package dev.kagzi.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.postgres.SharedPostgres;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.server.KagziServer;
import dev.kagzi.server.ServerConfig;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Runs every example on a real server and checks its result. */
class ExamplesTest {
  private static KagziServer server;
  private static Kagzi kagzi;

  @BeforeAll
  static void open() {
    var postgres = SharedPostgres.server();
    server =
        KagziServer.start(
            ServerConfig.builder()
                .dbUrl(postgres.jdbcUrl(SharedPostgres.createDatabase()))
                .dbUser(postgres.user())
                .dbPassword(postgres.password())
                .unsafeDatabase()
                .grpcPort(0)
                .httpPort(0)
                .localCallbacks("examples")
                .build());
    kagzi = Kagzi.connect(address());
  }

  private static String address() {
    return "127.0.0.1:" + server.grpcPort();
  }

  @AfterAll
  static void close() {
    kagzi.close();
    server.close();
  }

  @Test
  void an_order_is_charged_and_shipped() {
    assertThat(new OrderExample().run(kagzi)).isEqualTo("paid 4200, shipped lamp");
  }

  @Test
  void a_transfer_changes_the_applications_database() {
    assertThat(new TransferExample().run(kagzi)).isEqualTo("debited 42.00, 58.00 left");
  }

  @Test
  void a_flaky_call_is_retried_and_a_final_failure_is_caught() {
    assertThat(new FlakyGatewayExample().run(kagzi)).isEqualTo("ada gets an invoice over 42.00");
  }

  @Test
  void a_trip_that_cannot_be_booked_is_cancelled_in_reverse_order() {
    assertThat(new SagaExample().run(kagzi))
        .isEqualTo(
            "no trip: no cars in Oslo (book flight, book hotel, cancel hotel, cancel flight)");
  }

  @Test
  void an_order_is_undone_in_reverse_order_although_its_worker_is_lost_in_the_middle() {
    assertThat(new OrderSagaExample().run(kagzi))
        .isEqualTo(
            "no order: nobody ships to ada (reserve lamp, reserve vase, charge ada, refund, release"
                + " vase, release lamp; on record: refund, release#2, release)");
  }

  @Test
  void an_order_that_its_customer_cancels_is_undone_in_reverse_order() {
    assertThat(new OrderCancelExample().run(kagzi))
        .isEqualTo(
            "cancelled (reserve lamp, reserve vase, charge ada, refund ada, release vase, release"
                + " lamp, mail ada; on record: refund, release#2, release)");
  }

  @Test
  void a_failed_payment_starts_its_own_handler_and_the_handler_of_all_failures() {
    HandlerExample example = new HandlerExample();

    for (int i = 0; i < 2; i++) {
      try (Kagzi client = Main.connect(address(), new HandlerExample())) {
        assertThat(new HandlerExample().run(client))
            .isEqualTo("dead letter: 4200 of ada; paged: process-payment: card of ada declined");
      }
    }

    assertThat(kagzi.namespaces().get("default").failureHandlerQueue())
        .as("the example does not handle failures of other namespaces")
        .isEmpty();
    assertThat(kagzi.namespaces().get(example.namespace()).failureHandlerQueue())
        .contains("payments");
  }

  @Test
  void the_address_is_taken_from_the_option_the_second_word_or_the_environment() {
    Map<String, String> environment = Map.of("KAGZI_ADDRESS", "other:1");

    assertThat(Arguments.parse(List.of("saga", "--address", "a:1"), environment))
        .isEqualTo(new Arguments("saga", "a:1"));
    assertThat(Arguments.parse(List.of("--address=a:1", "saga"), environment))
        .isEqualTo(new Arguments("saga", "a:1"));
    assertThat(Arguments.parse(List.of("saga", "a:1"), environment))
        .isEqualTo(new Arguments("saga", "a:1"));
    assertThat(Arguments.parse(List.of("saga"), environment))
        .isEqualTo(new Arguments("saga", "other:1"));
    assertThat(Arguments.parse(List.of("saga"), Map.of()))
        .isEqualTo(new Arguments("saga", Arguments.ADDRESS));
    assertThat(Arguments.parse(List.of("saga", "--adress", "a:1"), environment)).isNull();
  }

  @Test
  void an_unreachable_server_is_reported_in_one_line() {
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    Main.Console console =
        new Main.Console(
            new PrintStream(OutputStream.nullOutputStream()),
            new PrintStream(err, true, StandardCharsets.UTF_8));

    assertThat(Main.run(List.of("order", "--address", "127.0.0.1:1"), Map.of(), console))
        .isEqualTo(4);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .isEqualTo(
            "example order: server: 127.0.0.1:1 does not answer (expected: a running server; start"
                + " one with ./kagzi dev, or pass --address HOST:PORT)\n");
  }

  @Test
  void a_schedule_starts_one_report_per_second() {
    assertThat(new ScheduleExample().run(kagzi))
        .isEqualTo("3 reports are written, at most one per second: true");
  }

  @Test
  void branches_pack_in_parallel_and_one_carrier_wins() {
    assertThat(new FanOutExample().run(kagzi))
        .isEqualTo("a box with a lamp, a box with a book by bike");
  }

  @Test
  void a_file_is_imported_by_children_and_one_fails() {
    assertThat(new ChildExample().run(kagzi)).isEqualTo("700 rows, part 3 is corrupt");
  }

  @Test
  void a_webhook_that_comes_twice_pays_once_and_another_declines() {
    assertThat(new WebhookExample().run(kagzi))
        .isEqualTo("lamp paid with p-1 (4200); yacht not paid: no money");
  }

  @Test
  void an_account_lives_in_several_runs_and_books_each_movement_once() {
    assertThat(new AccountExample().run(kagzi))
        .isEqualTo("ann leaves with 5500 cents after 4 runs");
  }

  @Test
  void a_person_approves_and_another_expense_gets_a_reminder_and_no_answer() {
    ApprovalExample example = new ApprovalExample();

    assertThat(example.run(kagzi)).isEqualTo("flight approved by ann; lunch declined: no answer");
    assertThat(example.mails())
        .containsExactlyInAnyOrder(
            "please approve flight", "please approve lunch", "reminder: please approve lunch");
  }

  @Test
  void an_agent_asks_a_person_and_publishes_its_progress() {
    String answer = "booked the flight at 9:15, found by: search flights";

    assertThat(new AgentExample().run(kagzi))
        .isEqualTo(answer + "; the last that was seen: " + answer);
  }

  @Test
  void a_thousand_runs_are_started_in_bulk() {
    assertThat(new BulkExample().run(kagzi)).endsWith("add up to 333833500");
  }
}
