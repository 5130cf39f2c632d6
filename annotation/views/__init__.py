"""The pages of stages 2b and 3. One view, one job: load, ask who may, bind the form, call one action, show."""
