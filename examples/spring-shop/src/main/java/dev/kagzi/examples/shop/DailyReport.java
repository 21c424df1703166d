package dev.kagzi.examples.shop;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.spring.WorkflowDefinition;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/** Counts the open orders each morning. */
@Component
class DailyReport implements WorkflowDefinition<String, String> {
  static final WorkflowType<String, String> TYPE =
      WorkflowType.of("daily-report", String.class, String.class).queue("reports");
  static final String SCHEDULE = "daily-report";

  private final Shop shop;
  private final Kagzi kagzi;

  DailyReport(Shop shop, Kagzi kagzi) {
    this.shop = shop;
    this.kagzi = kagzi;
  }

  @Override
  public WorkflowType<String, String> type() {
    return TYPE;
  }

  @Override
  public String run(WorkflowContext ctx, String title) {
    return ctx.step("count", String.class, () -> title + ": " + shop.countOpen() + " open orders");
  }

  @EventListener(ApplicationReadyEvent.class)
  void schedule() {
    kagzi
        .schedule(SCHEDULE)
        .workflow(TYPE)
        .cron("0 6 * * *")
        .zone("Europe/Berlin")
        .input("good morning")
        .createOrUpdate();
  }
}
