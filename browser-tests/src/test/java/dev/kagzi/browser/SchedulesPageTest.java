package dev.kagzi.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import dev.kagzi.sdk.ScheduleInfo;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.time.ZoneId;
import org.junit.jupiter.api.Test;

class SchedulesPageTest extends BrowserTest {
  private static final WorkflowType<String, String> REPORT =
      WorkflowType.of("report", String.class, String.class).queue("reports");

  private static ScheduleInfo create(String name) {
    return kagzi
        .schedule(name)
        .workflow(REPORT)
        .cron("0 9 * * MON-FRI")
        .zone("Europe/Berlin")
        .input("<script>sales</script>")
        .createOrUpdate();
  }

  private static void press(Page page, String button) {
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(button).setExact(true))
        .click();
  }

  private static String path(ScheduleInfo schedule) {
    return "/schedules/" + schedule.id();
  }

  @TestInLooks
  void the_list_shows_when_each_schedule_fires_next(Look look) {
    create("<i>daily</i> \"report\"");
    kagzi.schedule("weekly").workflow(REPORT).cron("@weekly").paused().createOrUpdate();

    Page page = open(look, "/schedules");

    Locator daily =
        page.getByRole(AriaRole.ROW, new Page.GetByRoleOptions().setName("<i>daily</i>"));
    assertThat(daily).containsText("0 9 * * MON-FRI Europe/Berlin");
    assertThat(daily.locator("time").first()).containsText("in ");
    assertThat(page.getByRole(AriaRole.ROW, new Page.GetByRoleOptions().setName("weekly")))
        .containsText("paused");
    check(page, look, "schedules");
  }

  @Test
  void the_list_is_limited_by_the_values_in_its_url() {
    create("listed");
    kagzi.schedule("hidden").workflow(REPORT).cron("@monthly").paused().createOrUpdate();
    Page page = open(Look.LIGHT_WIDE, "/schedules");

    page.getByLabel("State").selectOption("enabled");
    press(page, "Filter");

    assertThat(page.getByText("listed", new Page.GetByTextOptions().setExact(true))).isVisible();
    assertThat(page.getByText("hidden", new Page.GetByTextOptions().setExact(true))).isHidden();
    assertThat(page.url()).contains("state=enabled");
  }

  @TestInLooks
  void one_schedule_shows_its_next_ten_fires_its_input_and_its_runs(Look look) {
    ScheduleInfo schedule = create("one " + look);
    kagzi.schedule("one " + look).trigger();

    Page page = open(look, path(schedule));

    assertThat(page.locator(".times li")).hasCount(10);
    assertThat(page.locator(".times li").first()).containsText("09:00:00 +0");
    assertThat(page.locator(".json")).containsText("<script>sales</script>");
    assertThat(page.getByText("1 in all")).isVisible();
    check(page, look, "schedule");
  }

  @TestInLooks
  void a_form_creates_a_schedule_and_shows_its_fires_while_it_is_filled_in(Look look) {
    String name = "created " + look;
    Page page = open(look, "/schedules/new");
    page.getByLabel("Name").fill(name);
    page.locator("#f-workflow_type").fill("report");
    page.locator("#f-task_queue").fill("reports");
    page.getByLabel("Time zone").fill("Asia/Tokyo");
    page.getByLabel("Cron expression").fill("30 7 1 * *");
    assertThat(page.locator("#preview li")).hasCount(10);
    assertThat(page.locator("#preview li").first()).containsText("-01 07:30:00 +09:00");
    page.locator("#f-input").fill("\"stock\"");
    page.getByText("Late slots, retries").click();
    page.getByLabel("Attempts of a run").fill("4");
    page.getByLabel("Jitter").fill("20s");
    check(page, look, "schedule-form");

    press(page, "Create the schedule");

    assertThat(page.getByRole(AriaRole.HEADING, new Page.GetByRoleOptions().setLevel(1)))
        .hasText("Schedule " + name);
    ScheduleInfo created = kagzi.schedule(name).get();
    assertThat(created.cron()).isEqualTo("30 7 1 * *");
    assertThat(created.zone()).isEqualTo(ZoneId.of("Asia/Tokyo"));
    assertThat(created.jitter()).isEqualTo(Duration.ofSeconds(20));
    assertThat(created.enabled()).isTrue();
  }

  @Test
  void a_wrong_expression_is_explained_at_the_form_and_values_are_kept() {
    Page page = open(Look.DARK_PHONE, "/schedules/new?type=report&queue=reports");
    page.getByLabel("Name").fill("wrong");
    page.getByLabel("Cron expression").fill("61 * * * *");
    assertThat(page.locator("#preview")).containsText("expected");

    press(page, "Create the schedule");

    assertThat(page.getByRole(AriaRole.ALERT)).containsText("Not saved. cron expr: ");
    assertThat(page.getByLabel("Cron expression")).hasAttribute("aria-invalid", "true");
    assertThat(page.getByLabel("Cron expression")).hasValue("61 * * * *");
    assertThat(page.getByLabel("Name")).hasValue("wrong");
    check(page, Look.DARK_PHONE, "schedule-refused");
    expectErrors();
  }

  @Test
  void a_schedule_is_edited_without_scripts_and_previewed_by_a_button() {
    ScheduleInfo schedule = create("edited");
    Page page = openWithoutScripts(Look.LIGHT_WIDE, path(schedule) + "/edit");
    assertThat(page.locator("#f-input")).hasValue("\"<script>sales</script>\"");

    page.getByLabel("Cron expression").fill("0 6 * * *");
    press(page, "Preview");
    assertThat(page.locator("#preview li").first()).containsText("06:00:00");
    press(page, "Save");

    assertThat(page.getByRole(AriaRole.STATUS).first()).hasText("Saved.");
    ScheduleInfo edited = kagzi.schedule("edited").get();
    assertThat(edited.cron()).isEqualTo("0 6 * * *");
    assertThat(edited.zone()).isEqualTo(ZoneId.of("Europe/Berlin"));
  }

  @Test
  void a_schedule_is_paused_resumed_triggered_and_deleted_after_a_question() {
    ScheduleInfo schedule = create("steered");
    Page page = open(Look.LIGHT_WIDE, path(schedule));

    press(page, "Pause");
    assertThat(page.getByText("Pause steered? It starts no runs")).isVisible();
    check(page, Look.LIGHT_WIDE, "schedule-pause");
    press(page, "Pause it");
    assertThat(page.getByText("Would fire next, but is paused")).isVisible();
    assertThat(kagzi.schedule("steered").get().enabled()).isFalse();

    press(page, "Resume");
    press(page, "Resume it");
    assertThat(page.getByText("The schedule fires again.")).isVisible();
    assertThat(kagzi.schedule("steered").get().enabled()).isTrue();

    press(page, "Trigger");
    press(page, "Start a run now");
    assertThat(page.getByText("Started run ")).isVisible();
    assertThat(kagzi.schedule("steered").runs().stream()).hasSize(1);

    press(page, "Delete");
    press(page, "Delete it");
    assertThat(page.getByText("Deleted.")).isVisible();
    assertThat(kagzi.schedules().stream()).noneMatch(other -> other.name().equals("steered"));
  }

  @TestInLooks
  void a_back_fill_says_how_many_slots_it_is_about_and_starts_their_runs(Look look) {
    String name = "filled " + look;
    ScheduleInfo schedule = create(name);
    Page page = open(look, path(schedule) + "/backfill");
    page.getByLabel("From (UTC)").fill("2026-11-02T00:00");
    page.getByLabel("To (UTC)").fill("2026-11-09T00:00");

    press(page, "Count the slots");
    assertThat(page.getByText("Start runs for 5 slots?")).isVisible();
    check(page, look, "schedule-backfill");
    press(page, "Back-fill 5 slots");

    assertThat(page.getByText("Started 5 runs; 0 slots had one already.")).isVisible();
    assertThat(kagzi.schedule(name).runs().stream()).hasSize(5);
  }
}
