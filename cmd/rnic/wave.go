package main

type waveCmd struct{}

func (w *waveCmd) Run() error { return nil }
