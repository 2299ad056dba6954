"""Procedures: pure engines that decide which runs to make and what they prove.

A procedure is a composition. It picks a bound, a captime rule, a selection and a growth rule; no procedure
has a copy of its own of any of them.

- `engine`: how a procedure is driven, and what all have in common;
- `evidence`: the runs it reads, recorded or live;
- `bounds`, `captime`, `selection`, `growth`: the rules;
- `paper`: UP, OUP and COUP; `naive`: Naive; `wager`: the procedure that needs least time;
- `naming`: a name and its options become an engine.

From the paper (Graham & Leyton-Brown 2025) to the code; the names are those of this package:

    ==================  =====================================  ========================================
    algorithm           line or formula                        function
    ==================  =====================================  ========================================
    Algorithm 1 (OUP)                                          paper.oup
                        line 4: first bounds and captimes      paper.arms.new_arms
                        line 7: the largest upper bound runs   selection.update_tournament
                        lines 8–18: one round                  paper.loop._play_round
                        line 9: old doubling rule              captime.doubles_old
                        line 9′: new doubling rule              captime.doubles_new
                        lines 10–11: capped runs again         paper.loop._rerun_capped
                        lines 15–18: F̂, Û, UCB, LCB           paper.loop.update_bounds
                        α(m, κ)                                bounds.hoeffding.confidence_width
                        line 19: the answer                    paper.loop._note_best
                        lines 20–28: who is out, when to stop  paper.loop.advance_optimistic
    Algorithm 2 (COUP)                                         paper.coup
                        line 5: n_p                            growth.Schedule.phase
                        lines 6–14: a phase begins             paper.PaperEngine._enter_set
                        α_p(m, κ)                              bounds.hoeffding.phase_width_scale
                        lines 15–28: a phase                   paper.loop.advance_optimistic
                        Section 5.2: schedules                 growth.SCHEDULES
    UP                  turns and elimination                  paper.up, paper.loop.advance_round_robin
    Naive                                                      naive.NaiveEngine
    ==================  =====================================  ========================================
"""
