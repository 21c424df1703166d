package dev.kagzi.bench;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(packages = "dev.kagzi.bench")
class ArchitectureTest {
  @ArchTest
  static final ArchRule only_public_packages_of_other_modules_are_used =
      noClasses()
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("dev.kagzi.engine.internal..", "dev.kagzi.sdk.internal..");
}
